#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "lp/kernels/selection.h"
#include "nodes/parameters/shard_values.h"

namespace lp {
namespace {

using kernels::GradientSum;
using kernels::Room;

// The same sum for the values from `at` on.
GradientSum from(GradientSum sum, std::size_t at) {
  for (std::uint32_t k = 0; k < sum.count; ++k) sum.terms[k].values += at;
  if (sum.before != nullptr) sum.before += at;
  return sum;
}

class QueueValues final : public ShardValues {
 public:
  QueueValues(kernels::Queue& queue, Array<float> values, const OptimizerRule& rule)
      : queue_(queue),
        rule_(rule),
        values_(queue, values.span()),
        first_(queue, has_first(rule) ? values.size() : 0),
        second_(queue, has_second(rule) ? values.size() : 0),
        search_(queue),
        on_host_(std::move(values)) {}

  std::size_t size() const override { return values_.size(); }

  void grow(std::size_t size) override {
    is_on_host_ = false;
    const auto enlarge = [&](Room<float>& room) {
      Room<float> larger(queue_, size);
      queue_.copy(larger.data(), room.data(), room.size() * sizeof(float));
      room = std::move(larger);
    };
    enlarge(values_);
    if (has_first(rule_)) enlarge(first_);
    if (has_second(rule_)) enlarge(second_);
  }

  bool finite(const Array<float>& gradient, Room<float>& there) override {
    there = Room<float>(queue_, gradient.span());
    search_.run(there.data(), there.size());
    std::uint64_t first_bad = 0;
    queue_.to_host(&first_bad, search_.result(), sizeof first_bad);
    queue_.wait();
    return first_bad == kernels::kAllFinite;
  }

  void update(std::span<const WaitingGradient> gradients, std::size_t width, std::uint64_t examples) override {
    GradientSum sum = sum_of(gradients);
    sum.divisor = static_cast<float>(examples);
    is_on_host_ = false;
    ++steps_;
    with_step(rule_, steps_, [&](const auto& step) {
      using Step = std::remove_cvref_t<decltype(step)>;
      for (const SlotRun& run : gradients.front().runs) {
        const std::size_t to = std::size_t{run.slot} * width;
        queue_.run(kernels::Update<Step>{.step = step,
                                         .sum = from(sum, std::size_t{run.at} * width),
                                         .parameters = values_.data() + to,
                                         .first = Step::kFirst ? first_.data() + to : nullptr,
                                         .second = Step::kSecond ? second_.data() + to : nullptr,
                                         .size = std::size_t{run.count} * width});
      }
    });
  }

  // Pages of new memory would cost more than the copy, so the last version's serves again once nobody reads it.
  const Array<float>& values() const override {
    if (is_on_host_) return on_host_;
    if (on_host_.size() != values_.size() || !on_host_.buffer().edits_in_place()) {
      on_host_ = Array<float>::uninitialized(values_.size());
    }
    values_.read(on_host_.edit());
    queue_.wait();
    is_on_host_ = true;
    return on_host_;
  }

  Optimizer optimizer() const override {
    if (steps_ == 0) return {.rule = rule_};  // as on the host, it has no state before the first step
    return {.rule = rule_, .steps = steps_, .first = read(first_), .second = read(second_)};
  }
  void restore(Array<float> values, Optimizer optimizer) override {
    values_ = Room<float>(queue_, values.span());
    on_host_ = std::move(values);
    is_on_host_ = true;
    rule_ = optimizer.rule;
    steps_ = optimizer.steps;
    first_ = Room<float>(queue_, has_first(rule_) ? values_.size() : 0);
    second_ = Room<float>(queue_, has_second(rule_) ? values_.size() : 0);
    optimizer.first.resize(first_.size());
    optimizer.second.resize(second_.size());
    first_.write(optimizer.first);
    second_.write(optimizer.second);
  }

 private:
  std::vector<float> read(const Room<float>& room) const {
    std::vector<float> out(room.size());
    room.read(out);
    queue_.wait();
    return out;
  }

  // Brings the gradients into the queue's memory, and returns their sum. More terms than one kernel takes are summed
  // before.
  GradientSum sum_of(std::span<const WaitingGradient> gradients) {
    const std::size_t size = gradients.front().values.size();
    brought_.resize(std::max(brought_.size(), gradients.size()));
    GradientSum sum;
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      if (sum.count == GradientSum::kMost) {
        if (sum_.size() < size) sum_ = Room<float>(queue_, size);
        queue_.run(kernels::SumGradients{.sum = sum, .to = sum_.data(), .size = size});
        sum = GradientSum{.before = sum_.data()};
      }
      sum.terms[sum.count++] = {.values = there(gradients[k], brought_[k]), .weight = gradients[k].weight};
    }
    return sum;
  }

  // The address of a gradient in the queue's memory, which is `brought` unless it is there already.
  const float* there(const WaitingGradient& gradient, Room<float>& brought) {
    if (gradient.there.size() == gradient.values.size()) return gradient.there.data();
    if (brought.size() < gradient.values.size()) brought = Room<float>(queue_, gradient.values.size());
    brought.write(gradient.values);
    return brought.data();
  }

  kernels::Queue& queue_;
  OptimizerRule rule_;
  std::uint64_t steps_ = 0;
  Room<float> values_;
  Room<float> first_;
  Room<float> second_;
  kernels::BadSearch search_;
  std::vector<Room<float>> brought_{};  // gradients, by their position in a sum
  Room<float> sum_{};
  mutable Array<float> on_host_;    // the values that were read last
  mutable bool is_on_host_ = true;  // nothing has changed them since
};

}  // namespace

std::unique_ptr<ShardValues> queue_values(kernels::Queue& queue, Array<float> values, const OptimizerRule& rule) {
  return std::make_unique<QueueValues>(queue, std::move(values), rule);
}

}  // namespace lp
