#include "nodes/replay/selector.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "nodes/replay/sum_tree.h"

namespace lp::replay {
namespace {

// The slots in no order, so that each is found and removed at once.
class SlotSet {
 public:
  void insert(std::uint32_t slot) {
    if (slot >= places_.size()) places_.resize(std::size_t{slot} + 1);
    places_[slot] = static_cast<std::uint32_t>(slots_.size());
    slots_.push_back(slot);
  }
  void remove(std::uint32_t slot) {
    const std::uint32_t last = slots_.back();
    slots_[places_[slot]] = last;
    places_[last] = places_[slot];
    slots_.pop_back();
  }
  std::size_t size() const { return slots_.size(); }
  std::uint32_t any(Random& random) const { return slots_[random.below(slots_.size())]; }

 private:
  std::vector<std::uint32_t> slots_{};
  std::vector<std::uint32_t> places_{};  // by slot
};

class UniformSelector final : public Selector {
 public:
  void insert(std::uint32_t slot, double) override { slots_.insert(slot); }
  void update(std::uint32_t, double) override {}
  void remove(std::uint32_t slot) override { slots_.remove(slot); }
  Selection select(Random& random) override {
    return {.slot = slots_.any(random), .probability = 1 / static_cast<double>(slots_.size())};
  }

 private:
  SlotSet slots_{};
};

class PrioritizedSelector final : public Selector {
 public:
  explicit PrioritizedSelector(double exponent) : exponent_(exponent) {}

  void insert(std::uint32_t slot, double priority) override {
    slots_.insert(slot);
    weights_.set(slot, weight(priority));
  }
  void update(std::uint32_t slot, double priority) override { weights_.set(slot, weight(priority)); }
  void remove(std::uint32_t slot) override {
    slots_.remove(slot);
    weights_.set(slot, 0);
  }
  Selection select(Random& random) override {
    const double total = weights_.total();
    if (!(total > 0)) return {.slot = slots_.any(random), .probability = 1 / static_cast<double>(slots_.size())};
    const std::uint32_t slot = weights_.at(random.uniform() * total);
    return {.slot = slot, .probability = weights_.weight(slot) / total};
  }

 private:
  double weight(double priority) const {
    if (priority == 0) return 0;
    const double power = exponent_ == 1 ? priority : std::pow(priority, exponent_);
    return std::clamp(power, kSmallest, kLargest);
  }
  static constexpr double kSmallest = 1e-290;
  static constexpr double kLargest = 1e290;  // the sum of any number of them is finite

  const double exponent_;
  SlotSet slots_{};
  SumTree weights_{};
};

// The slots in the order in which they were inserted, as a ring through a node before the first and after the last.
class OrderSelector final : public Selector {
 public:
  explicit OrderSelector(bool first) : first_(first) {}

  void insert(std::uint32_t slot, double) override {
    const std::uint32_t node = slot + 1;
    if (node >= links_.size()) links_.resize(std::size_t{node} + 1);
    const std::uint32_t last = links_[kEnds].before;
    links_[node] = {.before = last, .after = kEnds};
    links_[last].after = node;
    links_[kEnds].before = node;
  }
  void update(std::uint32_t, double) override {}
  void remove(std::uint32_t slot) override {
    const Link link = links_[slot + 1];
    links_[link.before].after = link.after;
    links_[link.after].before = link.before;
  }
  Selection select(Random&) override {
    return {.slot = (first_ ? links_[kEnds].after : links_[kEnds].before) - 1, .probability = 1};
  }

 private:
  static constexpr std::uint32_t kEnds = 0;
  struct Link {
    std::uint32_t before = kEnds;
    std::uint32_t after = kEnds;
  };

  const bool first_;
  std::vector<Link> links_{Link()};  // by slot + 1
};

// A binary heap that knows where each slot is.
class HeapSelector final : public Selector {
 public:
  explicit HeapSelector(bool largest) : sign_(largest ? -1 : 1) {}

  void insert(std::uint32_t slot, double priority) override {
    if (slot >= places_.size()) places_.resize(std::size_t{slot} + 1);
    heap_.push_back({.key = sign_ * priority, .inserted = inserted_++, .slot = slot});
    rise(heap_.size() - 1);
  }
  void update(std::uint32_t slot, double priority) override {
    heap_[places_[slot]].key = sign_ * priority;
    restore(places_[slot]);
  }
  void remove(std::uint32_t slot) override {
    const std::size_t place = places_[slot];
    std::swap(heap_[place], heap_.back());
    heap_.pop_back();
    if (place < heap_.size()) restore(place);
  }
  Selection select(Random&) override { return {.slot = heap_.front().slot, .probability = 1}; }

 private:
  struct Node {
    double key = 0;
    std::uint64_t inserted = 0;
    std::uint32_t slot = 0;

    bool before(const Node& other) const { return key != other.key ? key < other.key : inserted < other.inserted; }
  };

  void restore(std::size_t i) { sink(rise(i)); }
  std::size_t rise(std::size_t i) {
    const Node node = heap_[i];
    for (; i > 0 && node.before(heap_[(i - 1) / 2]); i = (i - 1) / 2) put(i, heap_[(i - 1) / 2]);
    put(i, node);
    return i;
  }
  void sink(std::size_t i) {
    const Node node = heap_[i];
    for (;;) {
      std::size_t child = 2 * i + 1;
      if (child + 1 < heap_.size() && heap_[child + 1].before(heap_[child])) ++child;
      if (child >= heap_.size() || !heap_[child].before(node)) break;
      put(i, heap_[child]);
      i = child;
    }
    put(i, node);
  }
  void put(std::size_t i, const Node& node) {
    heap_[i] = node;
    places_[node.slot] = i;
  }

  const double sign_;
  std::uint64_t inserted_ = 0;
  std::vector<Node> heap_{};
  std::vector<std::size_t> places_{};  // by slot
};

struct Make {
  std::unique_ptr<Selector> operator()(Uniform) const { return std::make_unique<UniformSelector>(); }
  std::unique_ptr<Selector> operator()(Prioritized options) const {
    if (options.exponent >= 0 && std::isfinite(options.exponent)) {
      return std::make_unique<PrioritizedSelector>(options.exponent);
    }
    throw Error(ErrorKind::failed, "Prioritized has the exponent " + std::to_string(options.exponent) +
                                       ": give a finite number of at least 0");
  }
  std::unique_ptr<Selector> operator()(Fifo) const { return std::make_unique<OrderSelector>(/*first=*/true); }
  std::unique_ptr<Selector> operator()(Lifo) const { return std::make_unique<OrderSelector>(/*first=*/false); }
  std::unique_ptr<Selector> operator()(MinHeap) const { return std::make_unique<HeapSelector>(/*largest=*/false); }
  std::unique_ptr<Selector> operator()(MaxHeap) const { return std::make_unique<HeapSelector>(/*largest=*/true); }
};

}  // namespace

std::unique_ptr<Selector> make_selector(const SelectorOptions& options) { return std::visit(Make(), options); }

}  // namespace lp::replay
