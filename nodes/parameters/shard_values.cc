// Plain loops, built with -ffp-contract=off like optimizer.cc: every value gets the same operations wherever it is in a
// shard.
#include "nodes/parameters/shard_values.h"

#include <algorithm>
#include <array>
#include <utility>

#include "nodes/parameters/bad_values.h"

namespace lp {
namespace {

constexpr std::size_t kBlock = 1024;  // values that stay in the first cache while they are summed and applied

class HostValues final : public ShardValues {
 public:
  HostValues(Array<float> values, const OptimizerRule& rule) : values_(std::move(values)), optimizer_{.rule = rule} {}

  std::size_t size() const override { return values_.size(); }

  void grow(std::size_t size) override {
    auto larger = Array<float>(size);
    std::copy(values_.begin(), values_.end(), larger.edit().begin());
    values_ = std::move(larger);
  }

  bool finite(const Array<float>& gradient, kernels::Room<float>&) override { return all_finite(gradient.span()); }

  // Block by block.
  void update(std::span<const WaitingGradient> gradients, std::size_t width, std::uint64_t examples) override {
    const std::span<float> values = values_.edit();  // edit() copies if somebody reads: readers keep their version
    optimizer_.begin_step(values.size());
    const auto divisor = static_cast<float>(examples);
    std::array<float, kBlock> block;
    for (const SlotRun& run : gradients.front().runs) {
      const std::size_t from = std::size_t{run.at} * width;
      const std::size_t to = std::size_t{run.slot} * width;
      const std::size_t count = std::size_t{run.count} * width;
      for (std::size_t done = 0; done < count; done += kBlock) {
        const std::size_t n = std::min(kBlock, count - done);
        const std::span<float> sum(block.data(), n);
        sum_values(gradients, from + done, sum);
        if (examples != 0) {
          for (float& value : sum) value /= divisor;
        }
        optimizer_.apply_part(values, to + done, sum);
      }
    }
  }

  const Array<float>& values() const override { return values_; }
  Optimizer optimizer() const override { return optimizer_; }
  void restore(Array<float> values, Optimizer optimizer) override {
    values_ = std::move(values);
    optimizer_ = std::move(optimizer);
  }

 private:
  Array<float> values_;
  Optimizer optimizer_;
};

}  // namespace

std::unique_ptr<ShardValues> host_values(Array<float> values, const OptimizerRule& rule) {
  return std::make_unique<HostValues>(std::move(values), rule);
}

}  // namespace lp
