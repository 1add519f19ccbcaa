// Built with -ffp-contract=off: a fused multiply-add would change the last bit of the numbers.
#include "programs/evolution/noise.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/hash.h"
#include "lp/base/random.h"
#include "lp/kernels/normal.h"

namespace lp {
namespace {

constexpr std::size_t kBlock = kernels::kNormalBlock;  // numbers that are computed together
constexpr std::uint64_t kTable = ~std::uint64_t{0};    // an index that no trial has

using Words = std::array<std::uint32_t, kBlock>;
using Block = std::array<float, kBlock>;

Words random_words(std::uint64_t key, std::uint64_t index, std::uint64_t block) {
  Words words;
  for (std::uint64_t i = 0; i < kBlock / 4; ++i) {
    const auto four = kernels::random_words(key, index, block * (kBlock / 4) + i);
    std::copy(four.begin(), four.end(), words.begin() + static_cast<std::ptrdiff_t>(4 * i));
  }
  return words;
}

Block normal_block(const Words& words) {
  Block out;
  for (std::size_t i = 0; i < kBlock / 2; ++i) {
    const kernels::NormalPair pair = kernels::normal_pair(words[i], words[kBlock / 2 + i]);
    out[i] = pair.first;
    out[kBlock / 2 + i] = pair.second;
  }
  return out;
}

void normal_numbers(std::uint64_t seed, std::uint64_t index, std::span<float> out) {
  const std::uint64_t key = noise_key(seed);
  for (std::uint64_t block = 0; block * kBlock < out.size(); ++block) {
    const std::span<float> rest = out.subspan(block * kBlock);
    const Block numbers = normal_block(random_words(key, index, block));
    std::copy_n(numbers.begin(), std::min(kBlock, rest.size()), rest.begin());
  }
}

class TableNoise final : public Noise {
 public:
  TableNoise(std::uint64_t seed, Array<float> table) : seed_(seed), table_(std::move(table)) {}

  std::uint64_t index(std::uint64_t trial, std::size_t size) const override {
    check(size);
    return Random(seed_, "noise index", trial).below(table_.size() - size + 1);
  }
  std::span<const float> at(std::uint64_t index, std::size_t size, std::vector<float>&) const override {
    check(size);
    if (index > table_.size() - size) {
      throw Error(ErrorKind::failed, std::to_string(size) + " numbers from " + std::to_string(index) +
                                         " on do not lie in a noise table of " + std::to_string(table_.size()));
    }
    return table_.span().subspan(index, size);
  }
  NoiseSource source() const override { return {.table = table_.span()}; }

 private:
  void check(std::size_t size) const {
    if (size <= table_.size()) return;
    throw Error(ErrorKind::failed, "a noise table of " + std::to_string(table_.size()) + " numbers is too small for " +
                                       std::to_string(size) +
                                       " parameters: raise NoiseOptions::table_size, or use NoiseKind::counter");
  }

  const std::uint64_t seed_;
  const Array<float> table_;
};

class CounterNoise final : public Noise {
 public:
  explicit CounterNoise(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t index(std::uint64_t trial, std::size_t) const override { return trial; }
  std::span<const float> at(std::uint64_t index, std::size_t size, std::vector<float>& room) const override {
    room.resize(size);
    normal_numbers(seed_, index, room);
    return room;
  }
  NoiseSource source() const override { return {.key = noise_key(seed_)}; }

 private:
  const std::uint64_t seed_;
};

}  // namespace

std::uint64_t noise_key(std::uint64_t seed) { return mix64(fnv1a("noise")) ^ seed; }

Array<float> noise_table(std::uint64_t seed, std::size_t size) {
  auto table = Array<float>::uninitialized(size);
  normal_numbers(seed, kTable, table.edit());
  return table;
}

std::unique_ptr<Noise> table_noise(std::uint64_t seed, Array<float> table) {
  return std::make_unique<TableNoise>(seed, std::move(table));
}

std::unique_ptr<Noise> counter_noise(std::uint64_t seed) { return std::make_unique<CounterNoise>(seed); }

std::unique_ptr<Noise> make_noise(NoiseKind kind, std::uint64_t seed, const Array<float>& table) {
  return kind == NoiseKind::table ? table_noise(seed, table) : counter_noise(seed);
}

}  // namespace lp
