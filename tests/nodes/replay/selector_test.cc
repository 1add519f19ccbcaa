// Selectors against models that know nothing of heaps, trees and lists, and the distribution of their samples.
#include "nodes/replay/selector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "lp/base/error.h"
#include "nodes/replay/sum_tree.h"

namespace lp::replay {
namespace {

constexpr std::uint32_t kSlots = 100;
constexpr int kSelections = 1'000'000;

// The items in the order of their inserts.
struct Slot {
  std::uint32_t slot = 0;
  double priority = 0;
};
using Slots = std::vector<Slot>;

Slots::iterator item_of(Slots& model, std::uint32_t slot) {
  return std::find_if(model.begin(), model.end(), [slot](const Slot& one) { return one.slot == slot; });
}

// The selection that a selector without chance must make.
using Expected = std::function<std::uint32_t(const Slots&)>;

void run_operations(const SelectorOptions& options, const std::function<void(const Slots&, const Selection&)>& check) {
  Random random(1, "operations");
  Random choices(2, "choices");
  const auto selector = make_selector(options);
  Slots model;
  for (int i = 0; i < kSelections; ++i) {
    const auto slot = static_cast<std::uint32_t>(random.below(kSlots));
    const double priority = static_cast<double>(random.below(8));
    const auto found = item_of(model, slot);
    if (found == model.end()) {
      selector->insert(slot, priority);
      model.push_back({slot, priority});
    } else if (random.below(2) == 0) {
      selector->remove(slot);
      model.erase(found);
    } else {
      selector->update(slot, priority);
      found->priority = priority;
    }
    if (!model.empty()) check(model, selector->select(choices));
    if (testing::Test::HasFailure()) return;
  }
}

void expect_always(const SelectorOptions& options, const Expected& expected) {
  run_operations(options, [&](const Slots& model, const Selection& selection) {
    EXPECT_EQ(selection.slot, expected(model));
    EXPECT_EQ(selection.probability, 1);
  });
}

TEST(ReplaySelectorTest, FifoSelectsTheFirst) {
  expect_always(Fifo{}, [](const Slots& model) { return model.front().slot; });
}

TEST(ReplaySelectorTest, LifoSelectsTheLast) {
  expect_always(Lifo{}, [](const Slots& model) { return model.back().slot; });
}

TEST(ReplaySelectorTest, MinHeapSelectsTheFirstOfTheSmallest) {
  expect_always(MinHeap{}, [](const Slots& model) {
    return std::min_element(model.begin(), model.end(), [](auto& a, auto& b) { return a.priority < b.priority; })->slot;
  });
}

TEST(ReplaySelectorTest, MaxHeapSelectsTheFirstOfTheLargest) {
  expect_always(MaxHeap{}, [](const Slots& model) {
    return std::max_element(model.begin(), model.end(), [](auto& a, auto& b) { return a.priority < b.priority; })->slot;
  });
}

TEST(ReplaySelectorTest, UniformSelectsWhatIsThereWithItsProbability) {
  run_operations(Uniform{}, [](const Slots& model, const Selection& selection) {
    EXPECT_TRUE(std::any_of(model.begin(), model.end(), [&](auto& one) { return one.slot == selection.slot; }));
    EXPECT_EQ(selection.probability, 1 / static_cast<double>(model.size()));
  });
}

TEST(ReplaySelectorTest, PrioritizedSelectsWhatIsThereWithItsProbability) {
  run_operations(Prioritized{.exponent = 0.6}, [](const Slots& model, const Selection& selection) {
    double sum = 0;
    std::optional<double> selected;
    for (const Slot& one : model) {
      const double weight = one.priority == 0 ? 0 : std::pow(one.priority, 0.6);
      sum += weight;
      if (one.slot == selection.slot) selected = weight;
    }
    ASSERT_TRUE(selected.has_value());
    const double expected = sum == 0 ? 1 / static_cast<double>(model.size()) : *selected / sum;
    EXPECT_NEAR(selection.probability, expected, 1e-12);
    EXPECT_GT(selection.probability, 0);
  });
}

// Pearson's statistic of the counts against the probabilities, in standard deviations of its distribution:
// (χ² − k) / √(2k), for k degrees of freedom.
double chi_square_deviation(const std::map<std::uint32_t, double>& probabilities, const SelectorOptions& options,
                            const std::map<std::uint32_t, double>& priorities) {
  constexpr int kSamples = 1'000'000;
  const auto selector = make_selector(options);
  for (const auto& [slot, priority] : priorities) selector->insert(slot, priority);
  Random random(3, "chi");
  std::map<std::uint32_t, int> counts;
  for (int i = 0; i < kSamples; ++i) ++counts[selector->select(random).slot];
  double statistic = 0;
  double freedom = -1;
  for (const auto& [slot, probability] : probabilities) {
    if (probability == 0) {
      EXPECT_EQ(counts[slot], 0);
      continue;
    }
    const double expected = probability * kSamples;
    statistic += (counts[slot] - expected) * (counts[slot] - expected) / expected;
    ++freedom;
  }
  return (statistic - freedom) / std::sqrt(2 * freedom);
}

TEST(ReplaySelectorTest, PrioritizedSamplesHaveTheirDistribution) {
  for (const double exponent : {0.0, 0.6, 1.0, 2.0}) {
    std::map<std::uint32_t, double> priorities;
    std::map<std::uint32_t, double> probabilities;
    double sum = 0;
    for (std::uint32_t slot = 0; slot < 50; ++slot) {
      priorities[slot] = slot % 10 == 0 ? 0 : 0.1 * slot;
      probabilities[slot] = priorities[slot] == 0 ? 0 : std::pow(priorities[slot], exponent);
      sum += probabilities[slot];
    }
    for (auto& [slot, probability] : probabilities) probability /= sum;
    EXPECT_LT(std::abs(chi_square_deviation(probabilities, Prioritized{.exponent = exponent}, priorities)), 4)
        << exponent;
  }
}

TEST(ReplaySelectorTest, UniformSamplesHaveTheirDistribution) {
  std::map<std::uint32_t, double> priorities;
  std::map<std::uint32_t, double> probabilities;
  for (std::uint32_t slot = 0; slot < 50; ++slot) {
    priorities[slot] = slot;
    probabilities[slot] = 1.0 / 50;
  }
  EXPECT_LT(std::abs(chi_square_deviation(probabilities, Uniform{}, priorities)), 4);
  for (auto& [slot, priority] : priorities) priority = 0;  // all 0: each with the same probability
  EXPECT_LT(std::abs(chi_square_deviation(probabilities, Prioritized{}, priorities)), 4);
}

TEST(ReplaySelectorTest, HugeAndTinyPrioritiesKeepTheSumUsable) {
  const auto selector = make_selector(Prioritized{.exponent = 3});
  selector->insert(0, std::numeric_limits<double>::max());
  selector->insert(1, std::numeric_limits<double>::max());
  selector->insert(2, 1e-200);
  Random random(4, "huge");
  EXPECT_EQ(selector->select(random).probability, 0.5);
  selector->remove(0);
  selector->remove(1);
  EXPECT_EQ(selector->select(random).slot, 2U);
  selector->insert(3, 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(selector->select(random).slot, 2U);  // its power would be 0, too
}

TEST(ReplaySelectorTest, AnExponentThatIsNoneIsRefused) {
  EXPECT_THROW(make_selector(Prioritized{.exponent = -1}), Error);
  EXPECT_THROW(make_selector(Prioritized{.exponent = std::numeric_limits<double>::quiet_NaN()}), Error);
}

TEST(ReplaySumTreeTest, FindsTheSlotAtAPoint) {
  SumTree tree;
  tree.set(3, 2);
  tree.set(200, 1);
  tree.set(7, 4);
  EXPECT_EQ(tree.total(), 7);
  EXPECT_EQ(tree.at(0), 3U);
  EXPECT_EQ(tree.at(1.999), 3U);
  EXPECT_EQ(tree.at(2), 7U);
  EXPECT_EQ(tree.at(6), 200U);
  EXPECT_EQ(tree.at(7), 200U);  // beyond the end by a rounding error
  tree.set(200, 0);
  EXPECT_EQ(tree.at(6), 7U);
  EXPECT_EQ(tree.weight(100'000), 0);
}

}  // namespace
}  // namespace lp::replay
