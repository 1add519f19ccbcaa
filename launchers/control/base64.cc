#include "launchers/control/base64.h"

#include <array>
#include <cstdint>

#include "lp/base/error.h"

namespace lp::launch {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 64;

constexpr std::array<std::uint8_t, 256> digit_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}

}  // namespace

std::string to_base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(bytes.size() - at, 3);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < count ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0);
    for (std::size_t i = 0; i < 4; ++i) text += i <= count ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

std::vector<std::byte> from_base64(std::string_view text) {
  static constexpr std::array<std::uint8_t, 256> kValues = digit_values();
  const auto refuse = [] { throw Error(ErrorKind::failed, "the text is not base64"); };
  if (text.size() % 4 != 0) refuse();
  std::size_t padding = 0;
  while (padding < 2 && text.size() > padding && text[text.size() - 1 - padding] == '=') ++padding;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t at = 0; at < text.size(); at += 4) {
    const std::size_t digits = at + 4 < text.size() ? 4 : 4 - padding;
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint8_t value = i < digits ? kValues[static_cast<unsigned char>(text[at + i])] : 0;
      if (value == kNoDigit) refuse();
      group = group << 6 | value;
    }
    for (std::size_t i = 0; i + 1 < digits; ++i) bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * i) & 255));
    if ((digits < 4 && (group >> (24 - 8 * (digits - 1)) << (24 - 8 * (digits - 1))) != group)) refuse();
  }
  return bytes;
}

}  // namespace lp::launch
