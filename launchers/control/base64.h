#pragma once
// Bytes as text in base64 (RFC 4648, section 4). Pure functions.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lp::launch {

std::string to_base64(std::span<const std::byte> bytes);
// Throws Error(failed) when the text is not base64 with its padding.
std::vector<std::byte> from_base64(std::string_view text);

}  // namespace lp::launch
