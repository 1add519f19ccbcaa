#pragma once
// Quotes text for a shell. A function without state.

#include <string>

namespace lp::internal {

// Returns `text` as one shell word.
inline std::string shell_quote(const std::string& text) {
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
