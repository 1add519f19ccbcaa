#pragma once
// The pairs of a reducer, key by key. The values of a key are read one after the other, so a key may have more of them
// than there is memory. Owned by a task; one thread.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/merge.h"

namespace lp {
namespace dataflow {

class Groups {
 public:
  explicit Groups(Merge merge) : merge_(std::move(merge)), more_(merge_.next(pair_)) {}

  // Goes to the next key, past the values of this one that nobody has read. Returns false when there is none.
  bool next() {
    std::string_view rest;
    while (next_value(rest)) {
    }
    if (!more_) return false;
    key_.assign(pair_.key);
    values_ = 0;
    open_ = true;
    return true;
  }
  std::string_view key() const { return key_; }
  std::uint64_t values() const { return values_; }  // read so far, of this key
  // Reads the next value of the key, which is valid until the next call.
  bool next_value(std::string_view& value) {
    if (!open_) return false;
    if (values_ > 0) {
      more_ = merge_.next(pair_);
      if (!more_ || pair_.key != key_) {
        open_ = false;
        return false;
      }
    }
    ++values_;
    value = pair_.value;
    return true;
  }

 private:
  Merge merge_;
  Pair pair_{};
  bool more_;
  bool open_ = false;  // the key may have more values
  std::string key_{};
  std::uint64_t values_ = 0;
};

}  // namespace dataflow

// The values of one key, for `for (V value : values)`, once. Those of one map task come in the order in which it
// emitted them, and tasks in the order of the input. A string_view is valid until the next value.
template <dataflow::Value V>
class Values {
 public:
  explicit Values(dataflow::Groups& groups) : groups_(groups) {}

  bool next(V& value) {
    std::string_view bytes;
    if (!groups_.next_value(bytes)) return false;
    value = dataflow::value_of<V>(bytes);
    return true;
  }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = V;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(Values* values) : values_(values) { ++*this; }
    const V& operator*() const { return value_; }
    Iterator& operator++() {
      if (!values_->next(value_)) values_ = nullptr;
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return values_ == nullptr; }

   private:
    Values* values_;
    V value_{};
  };
  Iterator begin() { return Iterator(this); }
  static std::default_sentinel_t end() { return {}; }

 private:
  dataflow::Groups& groups_;
};

}  // namespace lp
