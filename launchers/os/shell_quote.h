#pragma once
// Quotes text for a shell. Functions without state.

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

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

// Does the same, but returns text that means the same without quotes as it is.
inline std::string shell_quote_if_needed(const std::string& text) {
  constexpr std::string_view kPlain = "-_=./:,@+%";
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char one) {
    return std::isalnum(one) != 0 || kPlain.find(static_cast<char>(one)) != std::string_view::npos;
  });
  return plain ? text : shell_quote(text);
}

}  // namespace lp::internal
