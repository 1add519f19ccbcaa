#pragma once
// Functions that the readers of data files share. Pure functions; any thread.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "lp/base/error.h"
#include "programs/data/data.h"

namespace lp::internal {

// 4 GiB: the most that a dense matrix of features may take
inline constexpr std::uint64_t kMaxFloats = std::uint64_t{1} << 30;
inline constexpr int kMaxClasses = 1 << 16;

inline void check_dense_size(std::uint64_t inputs, std::uint64_t examples, const std::string& where) {
  if (inputs != 0 && examples > kMaxFloats / inputs) {
    throw_failed(where + ": " + std::to_string(examples) + " examples of " + std::to_string(inputs) +
                 " features need more than 4 GiB, the limit of a dense dataset");
  }
}

inline void check_plain(const Bytes& file) {
  if (file.bytes.starts_with("\x1f\x8b")) throw_failed(file.name + ": is compressed; run gunzip on it first");
}

// The text without the byte order mark of UTF-8.
inline std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text;
}

// Makes classes of labels that are −1 or +1.
inline void take_signs(Dataset& data) {
  data.labels = (data.labels.array() + 1) / 2;
  data.names = signs();
  data.classes = 2;
}

// Removes the blanks and the next word from the front of `line`, and returns the word.
inline std::string_view take_word(std::string_view& line) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = std::min(line.find_first_not_of(kBlank), line.size());
  const std::size_t end = std::min(line.find_first_of(kBlank, begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

// Returns false unless the whole word is a number of this type.
template <class T>
bool parse(std::string_view word, T& out) {
  if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  return error == std::errc() && stop == word.data() + word.size();
}

}  // namespace lp::internal
