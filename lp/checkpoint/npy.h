#pragma once
// Files of NumPy's format 1.0, with the numbers of a checkpoint's entry:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. Pure functions.

#include <string>

#include "lp/checkpoint/stored_numbers.h"

namespace lp {

// Returns the head that precedes the bytes of the numbers in such a file.
std::string npy_head(const StoredNumbers& numbers);

// Returns the numbers of such a file, which numpy.save wrote: little-endian, in at most two dimensions. Throws
// Error(failed) for bytes that are something else.
StoredNumbers parse_npy(const Buffer& file);

}  // namespace lp
