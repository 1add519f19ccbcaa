#pragma once
// The normal numbers of a search. Workers and learner name them by an index instead of sending them: a worker adds
// them to the parameters, and the learner makes them again. Immutable: any thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lp/base/array.h"

namespace lp {

// Numbers of an index: those of the table from there on, or without a table, those of the generator with this key
// (lp/kernels/normal.h). The table lives as long as its Noise.
struct NoiseSource {
  std::uint64_t key = 0;
  std::span<const float> table{};
};

class Noise {
 public:
  virtual ~Noise() = default;

  // The index of the numbers that a trial gets: a function of the seed and the trial. Error::failed when there are not
  // `size` numbers.
  virtual std::uint64_t index(std::uint64_t trial, std::size_t size) const = 0;

  // Returns `size` numbers with mean 0 and variance 1, a function of the seed and the index. They lie in `room`, or
  // elsewhere in memory that lives as long as this object. Error::failed when there are not so many from there on.
  virtual std::span<const float> at(std::uint64_t index, std::size_t size, std::vector<float>& room) const = 0;

  // How kernels get the same numbers.
  virtual NoiseSource source() const = 0;
};

enum class NoiseKind : std::uint8_t {
  table,    // read from one table, which every worker of a host reads in place; an index is a place in it
  counter,  // computed for each index: no memory, but more time for each number
};

struct NoiseOptions {
  NoiseKind kind = NoiseKind::table;
  std::size_t table_size = std::size_t{1} << 24;  // numbers, of 4 bytes each
};

// The key of the generator that makes all numbers: a function of the seed.
std::uint64_t noise_key(std::uint64_t seed);

// The numbers of the table: a function of the seed.
Array<float> noise_table(std::uint64_t seed, std::size_t size);

// Slices of a table (Salimans et al., "Evolution strategies as a scalable alternative to reinforcement learning", 2017,
// section 2.1). Slices overlap, so that a large table is needed for trials that are nearly independent.
std::unique_ptr<Noise> table_noise(std::uint64_t seed, Array<float> table);

// The numbers of lp/kernels/normal.h, where a trial's index names its stream. Devices make the same bits.
std::unique_ptr<Noise> counter_noise(std::uint64_t seed);

// The noise of this kind; the table is that of a table_noise.
std::unique_ptr<Noise> make_noise(NoiseKind kind, std::uint64_t seed, const Array<float>& table);

}  // namespace lp
