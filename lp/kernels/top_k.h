#pragma once
// The k values with the largest magnitudes, and of equal ones the first: exactly those that
// nodes/parameters/gradient_encoding.h keeps. NaN counts as infinite.
//
// A radix selection finds the k-th largest magnitude, digit by digit from the highest: CountDigits, SumRows and
// ChooseDigit, kTopKDigits times. Then CountKept, SumRows, PrefixSums, SpreadSums and KeepTopK write the values in the
// order of their positions. The values are divided into parts, each of which one thread reads from end to end, so that
// positions need no atomic operation and each run gives the same bits. top_k_select.h launches them.
//
// Values and pure functions: any thread.

#include <bit>
#include <cstdint>

#include "lp/kernels/host_device.h"

namespace lp::kernels {

constexpr unsigned kDigitBits = 4;
constexpr unsigned kDigits = 1U << kDigitBits;
constexpr unsigned kTopKDigits = 8;  // in a key

// Grows with the magnitude.
LP_HOST_DEVICE inline std::uint32_t magnitude_key(float value) {
  constexpr std::uint32_t kInfinity = 0x7f80'0000;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value) & 0x7fff'ffffU;
  return bits < kInfinity ? bits : kInfinity;
}

// The state of a selection, in the memory of the device.
struct Selection {
  std::uint64_t wanted;  // how many values with this prefix are kept; in the end, with this key
  std::uint32_t prefix;  // the digits of the k-th largest key that are known; the others are 0
  std::uint32_t known;   // their number

  LP_HOST_DEVICE unsigned shift() const { return kDigitBits * (kTopKDigits - 1 - known); }
  LP_HOST_DEVICE bool has_prefix(std::uint32_t key) const {
    const std::uint32_t known_bits = known == 0 ? 0 : ~std::uint32_t{0} << (kDigitBits * (kTopKDigits - known));
    return (key & known_bits) == prefix;
  }
};

// The values of a part: those of number p begin at begin(p).
struct Parts {
  std::uint64_t size;   // values
  std::uint64_t count;  // parts; 1 or more

  LP_HOST_DEVICE std::uint64_t length() const { return size / count + (size % count == 0 ? 0 : 1); }
  LP_HOST_DEVICE std::uint64_t begin(std::uint64_t part) const {
    const std::uint64_t at = part * length();
    return at < size ? at : size;
  }
};

// Begins a selection of the k largest, k at least 1.
struct BeginSelection {
  Selection* selection;
  std::uint64_t k;

  LP_HOST_DEVICE std::uint64_t indices() const { return 1; }
  LP_HOST_DEVICE void operator()(std::uint64_t) const { *selection = {.wanted = k, .prefix = 0, .known = 0}; }
};

// Counts, for each part, the values with each next digit: counts[digit * parts + part].
struct CountDigits {
  const float* values;
  Parts parts;
  const Selection* selection;
  std::uint32_t* counts;

  LP_HOST_DEVICE std::uint64_t indices() const { return parts.count; }
  LP_HOST_DEVICE void operator()(std::uint64_t part) const {
    const Selection chosen = *selection;
    std::uint32_t found[kDigits] = {};
    for (std::uint64_t i = parts.begin(part); i < parts.begin(part + 1); ++i) {
      const std::uint32_t key = magnitude_key(values[i]);
      const std::uint32_t digit = key >> chosen.shift() & (kDigits - 1);
      const bool counts_here = chosen.has_prefix(key);
      for (std::uint32_t d = 0; d < kDigits; ++d) found[d] += counts_here && d == digit ? 1 : 0;  // stays in registers
    }
    for (std::uint32_t d = 0; d < kDigits; ++d) counts[d * parts.count + part] = found[d];
  }
};

// Sums numbers of each row, `to_row` results for each: an index is a result, and takes the numbers of its part of the
// row.
template <class From>
struct SumRows {
  const From* from;
  Parts row;  // size: the numbers of a row; count: the results
  std::uint64_t rows;
  std::uint64_t* to;

  LP_HOST_DEVICE std::uint64_t indices() const { return rows * row.count; }
  LP_HOST_DEVICE void operator()(std::uint64_t index) const {
    const From* const numbers = from + index / row.count * row.size;
    const std::uint64_t part = index % row.count;
    std::uint64_t sum = 0;
    for (std::uint64_t i = row.begin(part); i < row.begin(part + 1); ++i) sum += numbers[i];
    to[index] = sum;
  }
};

// Chooses the next digit, from the numbers of values with each.
struct ChooseDigit {
  const std::uint64_t* counts;
  Selection* selection;

  LP_HOST_DEVICE std::uint64_t indices() const { return 1; }
  LP_HOST_DEVICE void operator()(std::uint64_t) const {
    Selection next = *selection;
    std::uint32_t digit = kDigits - 1;
    for (; digit > 0 && counts[digit] < next.wanted; --digit) next.wanted -= counts[digit];
    next.prefix |= digit << next.shift();
    ++next.known;
    *selection = next;
  }
};

// Counts, for each part, the values that are larger than the k-th, then those that are equal to it.
struct CountKept {
  const float* values;
  Parts parts;
  const Selection* selection;
  std::uint32_t* counts;  // 2 rows

  LP_HOST_DEVICE std::uint64_t indices() const { return parts.count; }
  LP_HOST_DEVICE void operator()(std::uint64_t part) const {
    const std::uint32_t least = selection->prefix;
    std::uint32_t larger = 0;
    std::uint32_t equal = 0;
    for (std::uint64_t i = parts.begin(part); i < parts.begin(part + 1); ++i) {
      const std::uint32_t key = magnitude_key(values[i]);
      larger += key > least ? 1 : 0;
      equal += key == least ? 1 : 0;
    }
    counts[part] = larger;
    counts[parts.count + part] = equal;
  }
};

// Replaces each number of a row by the sum of those before it; an index is a row.
struct PrefixSums {
  std::uint64_t* numbers;
  std::uint64_t row;
  std::uint64_t rows;

  LP_HOST_DEVICE std::uint64_t indices() const { return rows; }
  LP_HOST_DEVICE void operator()(std::uint64_t index) const {
    std::uint64_t sum = 0;
    for (std::uint64_t i = index * row; i < (index + 1) * row; ++i) {
      const std::uint64_t number = numbers[i];
      numbers[i] = sum;
      sum += number;
    }
  }
};

// Writes for each number of a row the sum of those before it, given the sum before each part of the row; an index is a
// part.
struct SpreadSums {
  const std::uint32_t* from;
  Parts row;
  std::uint64_t rows;
  const std::uint64_t* before;
  std::uint64_t* to;

  LP_HOST_DEVICE std::uint64_t indices() const { return rows * row.count; }
  LP_HOST_DEVICE void operator()(std::uint64_t index) const {
    const std::uint64_t first = index / row.count * row.size;
    const std::uint64_t part = index % row.count;
    std::uint64_t sum = before[index];
    for (std::uint64_t i = row.begin(part); i < row.begin(part + 1); ++i) {
      to[first + i] = sum;
      sum += from[first + i];
    }
  }
};

// Writes the kept values and their positions. Only the first of the values that are equal to the k-th are kept.
struct KeepTopK {
  const float* values;
  Parts parts;
  const Selection* selection;
  const std::uint64_t* before;  // 2 rows: the larger values before each part, and the equal ones
  std::uint32_t* positions;
  float* kept;

  LP_HOST_DEVICE std::uint64_t indices() const { return parts.count; }
  LP_HOST_DEVICE void operator()(std::uint64_t part) const {
    const Selection chosen = *selection;
    std::uint64_t equal = before[parts.count + part];
    std::uint64_t at = before[part] + (equal < chosen.wanted ? equal : chosen.wanted);
    for (std::uint64_t i = parts.begin(part); i < parts.begin(part + 1); ++i) {
      const std::uint32_t key = magnitude_key(values[i]);
      const bool keeps = key > chosen.prefix || (key == chosen.prefix && equal < chosen.wanted);
      equal += key == chosen.prefix ? 1 : 0;
      if (!keeps) continue;
      positions[at] = static_cast<std::uint32_t>(i);
      kept[at] = values[i];
      ++at;
    }
  }
};

// Adds kept values to those at their positions, or subtracts them; all positions differ.
struct AddAtPositions {
  const std::uint32_t* positions;
  const float* kept;
  std::uint64_t count;
  float sign;  // 1 or -1
  float* to;

  LP_HOST_DEVICE std::uint64_t indices() const { return count; }
  LP_HOST_DEVICE void operator()(std::uint64_t i) const { to[positions[i]] += sign * kept[i]; }
};

}  // namespace lp::kernels
