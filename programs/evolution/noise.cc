#include "programs/evolution/noise.h"

#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/random.h"

namespace lp {
namespace {

void fill(Random random, std::span<float> out) {
  for (float& one : out) one = static_cast<float>(random.normal());
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

 private:
  void check(std::size_t size) const {
    if (size <= table_.size()) return;
    throw Error(ErrorKind::failed, "a noise table of " + std::to_string(table_.size()) + " numbers is too small for " +
                                       std::to_string(size) +
                                       " parameters: give NoiseOptions::table_size more, or take NoiseKind::counter");
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
    fill(Random(seed_, "noise", index), room);
    return room;
  }

 private:
  const std::uint64_t seed_;
};

}  // namespace

Array<float> noise_table(std::uint64_t seed, std::size_t size) {
  auto table = Array<float>::uninitialized(size);
  fill(Random(seed, "noise table"), table.edit());
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
