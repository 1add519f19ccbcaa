#pragma once
// Workers that hand tensors over when a test says so, and the collective between them. Owned by the test.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "lp/lp.h"
#include "nodes/collective/fused_allreduce.h"

namespace lp::test {

using Values = std::vector<float>;

struct SummingOptions {
  std::optional<Duration> cycle{};
  CollectiveOptions collective{};
};

class Summing {
 public:
  static constexpr std::uint32_t kTensors = 5;

  Summing(Clients<CollectiveMember> members, int index, SummingOptions options)
      : cycle_(options.cycle),
        all_(std::in_place, std::move(members), static_cast<std::uint32_t>(index), options.collective) {}

  void join() {
    sums_.reset();
    all_->join();
    if (cycle_) {
      sums_.emplace(*all_, kTensors, *cycle_);
    } else {
      sums_.emplace(*all_, kTensors);
    }
  }
  void start(std::uint32_t tensor, Values values) {
    sums_->start(tensor, values);
    values_.insert_or_assign(tensor, std::move(values));  // which stay where they are
  }
  void wait() { sums_->wait(); }
  void drop() { sums_.reset(); }
  void end() {  // while the collective's members still serve
    sums_.reset();
    all_.reset();
  }
  Values values(std::uint32_t tensor) const { return values_.at(tensor); }
  std::uint64_t operations() const { return all_->statistics().operations; }
  using Remote = Methods<&Summing::join, &Summing::start, &Summing::wait, &Summing::drop, &Summing::end,
                         &Summing::values, &Summing::operations>;

 private:
  const std::optional<Duration> cycle_;
  std::optional<Collective> all_;
  std::map<std::uint32_t, Values> values_{};
  std::optional<FusedAllreduce> sums_{};
};

// The groups "summing" and "collective".
inline GroupHandle<Summing> add_summing(Program& program, int workers, const SummingOptions& options = {}) {
  const auto members =
      program.group<CollectiveMember>({.name = "collective", .replicas = workers, .on_failure = kIgnore}, context);
  auto summing =
      program.group<Summing>({.name = "summing", .replicas = workers, .on_failure = kIgnore}, members, index, options);
  for (int i = 0; i < workers; ++i) program.colocate(summing[i], members[i]);
  return summing;
}

// What a worker gives of a tensor: integers, so that a sum in any order is exact. Tensor 1 is empty.
inline Values whole(std::size_t worker, std::uint32_t tensor) {
  Values out(tensor == 1 ? 0 : std::size_t{100} << (2 * tensor));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>((i * 7 + worker * 13 + tensor) % 1000);
  return out;
}
inline Values real(std::size_t worker, std::uint32_t tensor) {
  Values out(whole(worker, tensor).size());
  Random random(worker, "values", tensor);
  for (float& one : out) one = static_cast<float>(random.normal());
  return out;
}
// What all tensors of these workers sum up to, added in this order.
using Which = std::vector<std::size_t>;
template <class Make>
std::vector<Values> serial_sums(const Which& workers, Make make) {
  std::vector<Values> out;
  for (std::uint32_t tensor = 0; tensor < Summing::kTensors; ++tensor) {
    Values& sum = out.emplace_back(make(workers[0], tensor));
    for (std::size_t k = 1; k < workers.size(); ++k) {
      const Values one = make(workers[k], tensor);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i];
    }
  }
  return out;
}

// A method of these workers, all at once.
template <auto M>
void at_once(const Clients<Summing>& all, const Which& workers) {
  std::vector<Future<void>> calls;
  for (const std::size_t worker : workers) calls.push_back(all[worker].template async<M>());
  for (Future<void>& one : calls) one.get();
}

// These workers hand all tensors over, one after the other, each in an order of its own, which `seed` decides; then
// they wait. What comes out, by tensor: the same in all.
template <class Make>
std::vector<Values> step(const Clients<Summing>& all, const Which& workers, std::uint64_t seed, Make make) {
  std::vector<std::pair<std::size_t, std::uint32_t>> order;
  for (const std::size_t worker : workers) {
    for (std::uint32_t tensor = 0; tensor < Summing::kTensors; ++tensor) order.emplace_back(worker, tensor);
  }
  Random random(seed, "order");
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  for (const auto& [worker, tensor] : order) all[worker].template call<&Summing::start>(tensor, make(worker, tensor));
  at_once<&Summing::wait>(all, workers);
  std::vector<Values> out;
  for (std::uint32_t tensor = 0; tensor < Summing::kTensors; ++tensor) {
    out.push_back(all[workers[0]].call<&Summing::values>(tensor));
    for (const std::size_t worker : workers) {
      EXPECT_TRUE(all[worker].call<&Summing::values>(tensor) == out.back()) << "worker " << worker << ", " << tensor;
    }
  }
  return out;
}

}  // namespace lp::test
