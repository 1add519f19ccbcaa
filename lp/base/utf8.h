#pragma once
// Finds where text stops being UTF-8. Pure functions.

#include <cstddef>
#include <string_view>

namespace lp {

// Returns the length of the longest prefix of `text` that is valid UTF-8 (RFC 3629: no surrogates, no overlong forms,
// at most U+10FFFF); text.size() if all of it is.
std::size_t valid_utf8_prefix(std::string_view text);

// Returns the longest beginning of `text` that has at most `most` bytes and does not end within a character.
std::string_view cut_utf8(std::string_view text, std::size_t most);

inline bool is_utf8(std::string_view text) { return valid_utf8_prefix(text) == text.size(); }

}  // namespace lp
