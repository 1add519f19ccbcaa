#include "lp/base/json.h"

#include <array>
#include <charconv>
#include <cmath>

#include "lp/base/utf8.h"

namespace lp {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

template <class Number>
void append_number(std::string& text, Number value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text.append(digits.data(), end);
}

void append_character(std::string& text, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  switch (c) {
    case '"': text += "\\\""; return;
    case '\\': text += "\\\\"; return;
    case '\n': text += "\\n"; return;
    case '\r': text += "\\r"; return;
    case '\t': text += "\\t"; return;
    default: break;
  }
  if (byte < 0x20 || byte == 0x7F) {
    text += "\\u00";
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  } else {
    text += c;
  }
}

}  // namespace

void JsonWriter::separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  needs_comma_ = false;
}

void JsonWriter::close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
}

void JsonWriter::quote(std::string_view value) {
  text_ += '"';
  while (!value.empty()) {
    const std::size_t valid = valid_utf8_prefix(value);
    for (const char c : value.substr(0, valid)) append_character(text_, c);
    value.remove_prefix(valid);
    if (value.empty()) break;
    text_ += kReplacement;
    value.remove_prefix(1);
  }
  text_ += '"';
}

void JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ':';
  needs_comma_ = false;
}

void JsonWriter::null() { json("null"); }
void JsonWriter::boolean(bool value) { json(value ? "true" : "false"); }

void JsonWriter::number(std::int64_t value) {
  separate();
  append_number(text_, value);
}

void JsonWriter::number(std::uint64_t value) {
  separate();
  append_number(text_, value);
}

void JsonWriter::number(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  append_number(text_, value);
}

void JsonWriter::number(float value) {
  if (!std::isfinite(value)) return null();
  separate();
  append_number(text_, value);
}

void JsonWriter::string(std::string_view value) {
  separate();
  quote(value);
}

void JsonWriter::json(std::string_view text) {
  separate();
  text_ += text;
}

}  // namespace lp
