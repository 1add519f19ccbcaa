#include "lp/draw/svg_text.h"

#include <array>
#include <cstdio>

#include "lp/base/utf8.h"

namespace lp::internal {

std::string svg_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

std::string svg_attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + svg_number(value) + "\"";
}

std::string svg_escaped(std::string_view text) {
  const bool valid = is_utf8(text);
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !valid) ? '?' : c;
    }
  }
  return result;
}

double svg_width(std::string_view text, double size) {
  double width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) continue;  // a further byte of a character
    const bool narrow = std::string_view("iIjl.,:;'|/ ()[]{}1tfr").find(c) != std::string_view::npos;
    const bool wide = std::string_view("mwMW@%").find(c) != std::string_view::npos;
    width += narrow ? 0.42 : wide ? 0.98 : (c >= 'A' && c <= 'Z') ? 0.74 : 0.64;
  }
  return width * size;
}

std::string svg_cut(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::string(text);
  constexpr std::string_view kDots = "…";
  const std::string_view kept = text.substr(0, longest > kDots.size() ? longest - kDots.size() : 0);
  // A text that is not UTF-8 is cut anywhere: svg_escaped() shows its bytes as question marks.
  const std::size_t end = is_utf8(text) ? valid_utf8_prefix(kept) : kept.size();
  return std::string(kept.substr(0, end)) + std::string(kDots);
}

}  // namespace lp::internal
