#pragma once
// The words of a text: its longest parts without white space, as std::isspace has it in the C locale. A view; pure.

#include <cstddef>
#include <iterator>
#include <string_view>

namespace lp {

// For `for (std::string_view word : lp::words(line))`.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) { ++*this; }
    std::string_view operator*() const { return word_; }
    Iterator& operator++() {
      while (at_ != end_ && is_space(*at_)) ++at_;
      const char* const begin = at_;
      while (at_ != end_ && !is_space(*at_)) ++at_;
      word_ = {begin, static_cast<std::size_t>(at_ - begin)};
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return word_.empty(); }

   private:
    static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
    const char* at_;
    const char* end_;
    std::string_view word_{};
  };
  Iterator begin() const { return Iterator(text_); }
  static std::default_sentinel_t end() { return {}; }

 private:
  std::string_view text_;
};

inline Words words(std::string_view text) { return Words(text); }

}  // namespace lp
