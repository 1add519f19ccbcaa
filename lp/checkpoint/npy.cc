#include "lp/checkpoint/npy.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp {
namespace {

constexpr std::string_view kNpyMagic{"\x93NUMPY\x01\x00", 8};  // version 1.0
constexpr std::size_t kBefore = 10;                            // bytes before the text, with the length of the text

// The names that lp and NumPy have for a type of number.
struct Name {
  std::string_view scalar;
  std::string_view numpy;
};
constexpr std::array<Name, 11> kNames{{{"f32", "<f4"},
                                       {"f64", "<f8"},
                                       {"i8", "|i1"},
                                       {"i16", "<i2"},
                                       {"i32", "<i4"},
                                       {"i64", "<i8"},
                                       {"u8", "|u1"},
                                       {"u16", "<u2"},
                                       {"u32", "<u4"},
                                       {"u64", "<u8"},
                                       {"bool", "|b1"}}};

[[noreturn]] void fail(const std::string& text) { throw Error(ErrorKind::failed, text); }

std::string_view numpy_name(std::string_view scalar) {
  for (const Name& one : kNames) {
    if (one.scalar == scalar) return one.numpy;
  }
  fail("NumPy has no type for " + std::string(scalar));
}

Name name_of(std::string_view numpy) {
  for (const Name& one : kNames) {
    if (one.numpy == numpy) return one;
  }
  fail("it has numbers of NumPy's type " + quote(numpy) + ", which a checkpoint does not have");
}

// The value that follows a key of the head, up to `end`.
std::string_view value_of(std::string_view head, std::string_view key, char end) {
  const std::size_t at = head.find(key);
  const std::size_t to = at == head.npos ? at : head.find(end, at + key.size());
  if (to == head.npos) fail("its head has no " + quote(key));
  return head.substr(at + key.size(), to - at - key.size());
}

// "3, 4" or "5000,"
std::vector<std::uint64_t> extents_of(std::string_view shape) {
  std::vector<std::uint64_t> extents;
  const char* at = shape.data();
  const char* const end = at + shape.size();
  while (at != end) {
    const auto [after, error] = std::from_chars(at, end, extents.emplace_back());
    if (error != std::errc{}) fail("its shape (" + std::string(shape) + ") is not one of numbers");
    at = after;
    while (at != end && (*at == ',' || *at == ' ')) ++at;
  }
  if (extents.size() > 2) fail("it has " + std::to_string(extents.size()) + " dimensions, but an entry has at most 2");
  return extents;
}

}  // namespace

std::string npy_head(const StoredNumbers& numbers) {
  constexpr std::size_t kAlignment = 64;
  std::string text = "{'descr': '" + std::string(numpy_name(numbers.scalar)) +
                     "', 'fortran_order': " + (numbers.by_rows ? "False" : "True") +
                     ", 'shape': " + shape_text(numbers) + ", }";
  text.append(kAlignment - (kBefore + text.size() + 1) % kAlignment, ' ');
  text += '\n';
  return std::string(kNpyMagic) + static_cast<char>(text.size() & 0xFF) + static_cast<char>(text.size() >> 8) + text;
}

StoredNumbers parse_npy(const Buffer& file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.size() < kBefore || !text.starts_with(kNpyMagic))
    fail("it does not begin like a file of NumPy's format 1.0");
  const std::size_t length =
      static_cast<unsigned char>(text[8]) + (std::size_t{static_cast<unsigned char>(text[9])} << 8);
  if (length > text.size() - kBefore) fail("its head is longer than the file");
  const std::string_view head = text.substr(kBefore, length);
  const Name name = name_of(value_of(head, "'descr': '", '\''));
  const std::vector<std::uint64_t> extents = extents_of(value_of(head, "'shape': (", ')'));
  StoredNumbers numbers{.scalar = std::string(name.scalar),
                        .rows = extents.empty() ? 1 : extents[0],
                        .columns = extents.size() < 2 ? 1 : extents[1],
                        .dimensions = static_cast<int>(extents.size()),
                        .by_rows = extents.size() < 2 || value_of(head, "'fortran_order': ", ',') == "False",
                        .bytes = Buffer::copy_of(file.bytes().subspan(kBefore + length))};
  std::uint64_t bytes = static_cast<std::uint64_t>(name.numpy.back() - '0');
  if (__builtin_mul_overflow(bytes, numbers.rows, &bytes) || __builtin_mul_overflow(bytes, numbers.columns, &bytes) ||
      bytes != numbers.bytes.size()) {
    fail("it has " + std::to_string(numbers.bytes.size()) + " bytes for " + numbers.scalar + " of shape " +
         shape_text(numbers));
  }
  return numbers;
}

}  // namespace lp
