#pragma once
// Reads and replaces the numbers in a checkpoint, for programs that know none of its types: the weights of a model.
// Functions of values.

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

// Puts numbers in place of those of an entry. An array may become longer or shorter; a matrix keeps its shape, and the
// order in which it is stored. Throws Error(failed), with nothing changed, when the entry has another type of number or
// another shape.
void replace_numbers(Checkpoint& checkpoint, std::string_view name, const StoredNumbers& numbers);

// Returns "(3, 4)", "(5000,)" or "()", as NumPy spells it.
std::string shape_text(const StoredNumbers& numbers);

}  // namespace lp
