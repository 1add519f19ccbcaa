#include "lp/checkpoint/values.h"

#include <array>
#include <charconv>
#include <cstring>

namespace lp {
namespace {

// "array<f32>" is an array of "f32".
struct Type {
  std::string_view container{};
  std::string_view scalar{};
};

Type split(std::string_view type) {
  const std::size_t at = type.find('<');
  if (at == std::string_view::npos || type.back() != '>') return {"", type};
  return {type.substr(0, at), type.substr(at + 1, type.size() - at - 2)};
}

template <class T>
void append(std::string& text, const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text.append(digits.data(), end);
}

struct Scalar {
  std::string_view name{};
  std::size_t size = 0;
  void (*append)(std::string&, const std::byte*) = nullptr;
};
constexpr std::array<Scalar, 11> kScalars{{{"f32", 4, &append<float>},
                                           {"f64", 8, &append<double>},
                                           {"i8", 1, &append<std::int8_t>},
                                           {"i16", 2, &append<std::int16_t>},
                                           {"i32", 4, &append<std::int32_t>},
                                           {"i64", 8, &append<std::int64_t>},
                                           {"u8", 1, &append<std::uint8_t>},
                                           {"u16", 2, &append<std::uint16_t>},
                                           {"u32", 4, &append<std::uint32_t>},
                                           {"u64", 8, &append<std::uint64_t>},
                                           {"bool", 1, &append<std::uint8_t>}}};

const Scalar* scalar_of(std::string_view name) {
  for (const Scalar& scalar : kScalars) {
    if (scalar.name == name) return &scalar;
  }
  return nullptr;
}

// Reads the number of rows or columns of a matrix.
std::uint64_t extent(Reader& reader) {
  const auto extent = reader.number<std::int64_t>();
  if (extent < 0) reader.fail("a matrix has a negative size");
  return static_cast<std::uint64_t>(extent);
}

}  // namespace

StoredNumbers numbers_of(const Checkpoint& checkpoint, std::string_view name) {
  const Message& message = checkpoint.stored(name);
  const std::string& text = checkpoint.type(name);
  const Type type = split(text);
  const Scalar* scalar = scalar_of(type.scalar);
  const bool matrix = type.container.starts_with("matrix ");
  if (scalar == nullptr || !(matrix || type.container.empty() || type.container == "array")) {
    throw Error(ErrorKind::failed,
                "checkpoint: \"" + std::string(name) + "\" is not a number, array or matrix, but " + text);
  }
  Reader reader(message.body.bytes(), message.arrays);
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  if (matrix) {
    rows = extent(reader);
    columns = extent(reader);
  } else if (!type.container.empty()) {
    rows = reader.number<std::uint64_t>();
  }
  std::uint64_t count = 0;
  if (__builtin_mul_overflow(rows, columns, &count)) reader.fail("it announces more numbers than it has bytes");
  StoredNumbers numbers{.scalar = std::string(type.scalar),
                        .rows = static_cast<std::size_t>(rows),
                        .columns = static_cast<std::size_t>(columns),
                        .dimensions = matrix                   ? 2
                                      : type.container.empty() ? 0
                                                               : 1,
                        .by_rows = !matrix || type.container.ends_with(" by rows"),
                        .bytes = reader.shared_array(count, scalar->size, scalar->size)};
  reader.finish();
  return numbers;
}

std::string to_csv(const StoredNumbers& numbers) {
  std::string text;
  const Scalar* scalar = scalar_of(numbers.scalar);
  if (scalar == nullptr || numbers.bytes.empty()) return text;
  for (std::size_t row = 0; row < numbers.rows; ++row) {
    for (std::size_t column = 0; column < numbers.columns; ++column) {
      if (column > 0) text += ',';
      const std::size_t at = numbers.by_rows ? row * numbers.columns + column : column * numbers.rows + row;
      scalar->append(text, numbers.bytes.data() + at * scalar->size);
    }
    text += '\n';
  }
  return text;
}

std::string shape_text(const StoredNumbers& numbers) {
  if (numbers.dimensions == 0) return "()";
  const std::string rows = "(" + std::to_string(numbers.rows) + ",";
  return rows + (numbers.dimensions == 1 ? "" : " " + std::to_string(numbers.columns)) + ")";
}

std::string npy_head(const StoredNumbers& numbers) {
  constexpr std::string_view kMagic = "\x93NUMPY\x01";  // a zero follows: version 1.0
  constexpr std::size_t kBefore = 10;                   // bytes before the text, with the length of the text
  constexpr std::size_t kAlignment = 64;
  const Scalar* scalar = scalar_of(numbers.scalar);
  if (scalar == nullptr) throw Error(ErrorKind::failed, "NumPy has no type for " + numbers.scalar);
  const char kind = numbers.scalar == "bool" ? 'b' : numbers.scalar.front();
  std::string text = std::string("{'descr': '") + (scalar->size == 1 ? '|' : '<') + kind +
                     std::to_string(scalar->size) + "', 'fortran_order': " + (numbers.by_rows ? "False" : "True") +
                     ", 'shape': " + shape_text(numbers) + ", }";
  text.append(kAlignment - (kBefore + text.size() + 1) % kAlignment, ' ');
  text += '\n';
  return std::string(kMagic) + '\0' + static_cast<char>(text.size() & 0xFF) + static_cast<char>(text.size() >> 8) +
         text;
}

}  // namespace lp
