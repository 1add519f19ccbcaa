#pragma once
// The columns of a step: the values that an actor appends together, such as observation, action and reward. All steps
// of a table have the same columns. In memory a step is a row: its columns one after the other, each aligned.
//
//   const lp::replay::Columns columns = {lp::replay::column<float>("observation", 4),
//                                        lp::replay::column<std::int32_t>("action"),
//                                        lp::replay::column<float>("reward")};
//
// Values; any thread may read one.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lp/base/enums.h"

namespace lp::replay {

enum class Scalar : std::uint8_t { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 };

// The scalar type of T; a compile error for every other T.
template <class T>
consteval Scalar scalar_of() {
  static_assert(std::same_as<T, float> || std::same_as<T, double> || (std::integral<T> && !std::same_as<T, bool>),
                "lp: a column of a step has float, double or integer values; store a bool as std::uint8_t");
  constexpr Scalar kSigned[] = {Scalar::i8, Scalar::i16, Scalar::i32, Scalar::i64};
  constexpr Scalar kUnsigned[] = {Scalar::u8, Scalar::u16, Scalar::u32, Scalar::u64};
  constexpr int kLog = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  if constexpr (std::floating_point<T>) {
    return sizeof(T) == sizeof(float) ? Scalar::f32 : Scalar::f64;
  } else {
    return std::signed_integral<T> ? kSigned[kLog] : kUnsigned[kLog];
  }
}

std::size_t size_of(Scalar scalar);  // bytes

struct Column {
  std::string name{};
  Scalar type = Scalar::f32;
  std::uint32_t size = 1;  // values in a step
};

using Columns = std::vector<Column>;

// A column of `size` values of type T.
template <class T>
Column column(std::string name, std::uint32_t size = 1) {
  return {.name = std::move(name), .type = scalar_of<T>(), .size = size};
}

// Where the columns lie in a row.
class Layout {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // a row is not larger

  // Error::failed when there is no column, when one has no value or no name, when two have the same name, or when the
  // row would be too large.
  explicit Layout(Columns columns);

  const Columns& columns() const { return columns_; }
  std::size_t row_bytes() const { return row_bytes_; }  // a multiple of 8
  std::size_t offset(std::size_t column) const { return offsets_[column]; }
  // The number of the column of this name, whose values have type `type`. Error::failed when there is none, naming the
  // columns.
  std::size_t find(std::string_view column, Scalar type) const;
  // Checks that `count` values of `type` fit the column of this number. Error::failed otherwise.
  void check(std::size_t column, Scalar type, std::size_t count) const;
  // "observation: 4 f32, action: 1 i32"; equal for equal columns.
  std::string text() const;

 private:
  Columns columns_;
  std::vector<std::size_t> offsets_{};
  std::size_t row_bytes_ = 0;
};

}  // namespace lp::replay
