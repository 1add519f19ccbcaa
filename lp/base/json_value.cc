#include "lp/base/json_value.h"

#include <algorithm>

#include "lp/base/error.h"
#include "lp/base/text.h"
#include "lp/base/utf8.h"

namespace lp {
namespace {

void append_utf8(std::string& text, std::uint32_t code) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view name_of(JsonValue::Kind kind) { return enum_name(kind); }

}  // namespace

// A parser by recursive descent of bounded depth.
class JsonValue::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  JsonValue document() {
    if (const std::size_t valid = valid_utf8_prefix(text_); valid != text_.size()) {
      at_ = valid;
      refuse("this is not UTF-8");
    }
    JsonValue value = any(0);
    skip_space();
    if (at_ != text_.size()) refuse("there is something after the end");
    return value;
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    const auto line =
        1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())), '\n');
    throw Error(ErrorKind::failed, "this is not JSON: line " + std::to_string(line) + ": " + std::string(why) +
                                       ", at " +
                                       (at_ < text_.size() ? quote(text_.substr(at_, 20)) : std::string("the end")));
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  JsonValue any(int depth) {
    JsonValue value;
    const char c = peek();
    if (depth > kDeepest) refuse("it is nested too deeply");
    if (c == '{') {
      read_object(value, depth);
    } else if (c == '[') {
      read_array(value, depth);
    } else if (c == '"') {
      value.kind_ = Kind::string;
      value.text_ = string();
    } else if (c == '-' || is_digit(c)) {
      read_number(value);
    } else if (take_word("true") || take_word("false")) {
      value.kind_ = Kind::boolean;
      value.text_ = c == 't' ? "true" : "false";
    } else if (!take_word("null")) {
      refuse("a value is missing");
    }
    return value;
  }

  void read_object(JsonValue& value, int depth) {
    value.kind_ = Kind::object;
    take('{');
    if (take('}')) return;
    do {
      if (peek() != '"') refuse("a name in quotes is missing");
      value.keys_.push_back(string());
      if (!take(':')) refuse("a colon is missing");
      value.items_.push_back(any(depth + 1));
    } while (take(','));
    if (!take('}')) refuse("a comma or a closing brace is missing");
  }

  void read_array(JsonValue& value, int depth) {
    value.kind_ = Kind::array;
    take('[');
    if (take(']')) return;
    do {
      value.items_.push_back(any(depth + 1));
    } while (take(','));
    if (!take(']')) refuse("a comma or a closing bracket is missing");
  }

  std::size_t digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ - begin;
  }

  void read_number(JsonValue& value) {
    const std::size_t begin = at_;
    take_word("-");
    const std::size_t first = at_;
    if (const std::size_t count = digits(); count == 0 || (count > 1 && text_[first] == '0')) {
      refuse("this is not a number");
    }
    if (take_word(".") && digits() == 0) refuse("a digit is missing");
    if (take_word("e") || take_word("E")) {
      if (!take_word("+")) take_word("-");
      if (digits() == 0) refuse("a digit is missing");
    }
    value.kind_ = Kind::number;
    value.text_ = text_.substr(begin, at_ - begin);
  }

  std::string string() {
    std::string result;
    ++at_;
    for (;;) {
      const std::size_t end = std::min(text_.find_first_of("\"\\", at_), text_.size());
      const std::string_view plain = text_.substr(at_, end - at_);
      const auto control = std::find_if(plain.begin(), plain.end(), [](char c) { return c >= 0 && c < 0x20; });
      if (control != plain.end()) {
        at_ += static_cast<std::size_t>(control - plain.begin());
        refuse("a string contains a control character");
      }
      result += plain;
      at_ = end;
      if (at_ == text_.size()) refuse("a string has no end");
      if (text_[at_++] == '"') return result;
      read_escape(result);
    }
  }

  void read_escape(std::string& result) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char c = at_ < text_.size() ? text_[at_++] : '\0';
    if (c == 'u') return append_utf8(result, character());
    const std::size_t which = kNames.find(c);
    if (which == std::string_view::npos || c == '\0') refuse("this escape does not exist");
    result += kMeanings[which];
  }

  // Reads one character after \u. JSON writes characters above U+FFFF as two halves.
  std::uint32_t character() {
    const std::uint32_t first = unit();
    if (first < 0xD800 || first > 0xDFFF) return first;
    if (first > 0xDBFF || !take_word("\\u")) refuse("the second half of a surrogate pair is missing");
    const std::uint32_t second = unit();
    if (second < 0xDC00 || second > 0xDFFF) refuse("the second half of a surrogate pair is missing");
    return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  }

  std::uint32_t unit() {
    std::uint32_t code = 0;
    const std::string_view hex = text_.substr(std::min(at_, text_.size()), 4);
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    if (hex.size() != 4 || error != std::errc() || end != hex.data() + 4) refuse("four hexadecimal digits are missing");
    at_ += 4;
    return code;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

JsonValue JsonValue::parse(std::string_view text) { return Parser(text).document(); }

const JsonValue* JsonValue::find(std::string_view key) const {
  const auto at = std::find(keys_.begin(), keys_.end(), key);
  return at == keys_.end() ? nullptr : &items_[static_cast<std::size_t>(at - keys_.begin())];
}

namespace internal {

void refuse_json(const JsonPath& path, const JsonValue& value, std::string_view expected) {
  std::string where;
  for (const JsonPath* at = &path; at->outer != nullptr; at = at->outer) {
    const std::string part = at->key.empty() ? "[" + std::to_string(at->index) + "]" : std::string(at->key);
    where = part + (where.empty() || where.front() == '[' ? "" : ".") + where;
  }
  const bool shown = value.kind() == JsonValue::Kind::string || value.kind() == JsonValue::Kind::number;
  throw Error(ErrorKind::failed, (where.empty() ? std::string() : where + ": ") + "expected " + std::string(expected) +
                                     ", not " + (shown ? quote(value.text()) : std::string(name_of(value.kind()))));
}

}  // namespace internal
}  // namespace lp
