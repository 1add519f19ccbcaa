#include "lp/checkpoint/stored_numbers.h"

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

// The same matrix in the other order.
Buffer transposed(const StoredNumbers& numbers) {
  Buffer bytes = Buffer::uninitialized(numbers.bytes.size());
  if (bytes.empty()) return bytes;
  const std::size_t size = bytes.size() / (numbers.rows * numbers.columns);
  const std::size_t lines = numbers.by_rows ? numbers.rows : numbers.columns;
  const std::size_t length = numbers.by_rows ? numbers.columns : numbers.rows;
  std::byte* to = bytes.edit().data();
  for (std::size_t at = 0; at < length; ++at) {
    for (std::size_t line = 0; line < lines; ++line, to += size) {
      std::memcpy(to, numbers.bytes.data() + (line * length + at) * size, size);
    }
  }
  return bytes;
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

void replace_numbers(Checkpoint& checkpoint, std::string_view name, const StoredNumbers& numbers) {
  const StoredNumbers before = numbers_of(checkpoint, name);
  const bool fits = numbers.scalar == before.scalar && numbers.dimensions == before.dimensions &&
                    (numbers.dimensions == 1 || shape_text(numbers) == shape_text(before));
  if (!fits) {
    throw_failed("checkpoint: \"" + std::string(name) + "\" has " + before.scalar + " of shape " + shape_text(before) +
                 ", and cannot take " + numbers.scalar + " of shape " + shape_text(numbers));
  }
  Writer writer;
  if (numbers.dimensions == 2) {
    writer.number(static_cast<std::int64_t>(numbers.rows));
    writer.number(static_cast<std::int64_t>(numbers.columns));
  } else if (numbers.dimensions == 1) {
    writer.count(numbers.rows);
  }
  writer.array(numbers.by_rows == before.by_rows ? numbers.bytes : transposed(numbers));
  checkpoint.replace_stored(name, writer.take());
}

std::string shape_text(const StoredNumbers& numbers) {
  if (numbers.dimensions == 0) return "()";
  const std::string rows = "(" + std::to_string(numbers.rows) + ",";
  return rows + (numbers.dimensions == 1 ? "" : " " + std::to_string(numbers.columns)) + ")";
}

}  // namespace lp
