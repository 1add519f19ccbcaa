#pragma once
// Reads numbers from a checkpoint, for programs that know none of its types: the weights of a model. Pure functions.

#include <cstddef>
#include <string>
#include <string_view>

#include "lp/checkpoint/checkpoint.h"

namespace lp {

// The numbers of an entry. An array is one column; a single number is one row of one column.
struct StoredNumbers {
  std::string scalar{};  // "f32", "i64", ...: kind and bits; "bool"
  std::size_t rows = 0;
  std::size_t columns = 1;
  int dimensions = 1;   // 0: a single number; 2: a matrix
  bool by_rows = true;  // their order in `bytes`
  Buffer bytes{};       // little-endian: a program can read or map them as they are
};

// Returns the numbers of an entry that is a number, an array or vector of numbers, or a dense matrix. Throws
// Error(failed) for another entry, with its type.
StoredNumbers numbers_of(const Checkpoint& checkpoint, std::string_view name);

// Returns a line for each row, with commas. Numbers read back exactly.
std::string to_csv(const StoredNumbers& numbers);

// Returns "(3, 4)", "(5000,)" or "()", as NumPy spells it.
std::string shape_text(const StoredNumbers& numbers);
// Returns the head that precedes the bytes of the numbers in a file of NumPy's format 1.0:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
std::string npy_head(const StoredNumbers& numbers);

}  // namespace lp
