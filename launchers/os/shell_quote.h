#pragma once
// Text for a shell. A function without state.

#include <string>

namespace lp::internal {

// `text` as one word of it.
inline std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char one : text) {
    if (one == '\'') {
      word += "'\\''";
    } else {
      word += one;
    }
  }
  return word + "'";
}

}  // namespace lp::internal
