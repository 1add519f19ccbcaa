// Transitions over several steps: their rewards, discounts and ends, also across segments.
#include "programs/agents/transitions.h"

#include <gtest/gtest.h>

#include <vector>

#include "lp/base/error.h"

namespace lp {
namespace {

// A transition whose observations are numbers of steps.
struct Joined {
  float from;
  float action;
  float reward;
  float discount;
  float to;
  bool operator==(const Joined&) const = default;
};

// Two copies, of which copy c observes 100 c + t in step t, takes action −t and gets the reward 2^t. `ends` has the
// ends by column.
Segment segment_from(int first, int steps, std::vector<EpisodeEnd> ends = {}) {
  Segment out;
  out.observations.resize(1, 2 * (steps + 1));
  out.actions.resize(1, 2 * steps);
  out.rewards.resize(2, steps);
  for (int t = 0; t <= steps; ++t) {
    for (int c = 0; c < 2; ++c) {
      out.observations(0, 2 * t + c) = static_cast<float>(100 * c + first + t);
      if (t == steps) continue;
      out.actions(0, 2 * t + c) = static_cast<float>(-(first + t));
      out.rewards(c, t) = static_cast<float>(1 << (first + t));
    }
  }
  out.ends = std::move(ends);
  out.ends.resize(static_cast<std::size_t>(2 * steps), EpisodeEnd::none);
  std::vector<float> last;
  for (std::size_t i = 0; i < out.ends.size(); ++i) {
    if (out.ends[i] != EpisodeEnd::none) last.push_back(1000 + static_cast<float>(i));
  }
  out.last_observations = Eigen::Map<Eigen::MatrixXf>(last.data(), 1, static_cast<Eigen::Index>(last.size()));
  return out;
}

std::vector<Joined> join(TransitionJoiner& joiner, const Segment& segment) {
  std::vector<Joined> out;
  joiner.add(segment, [&](const Transition& one) {
    out.push_back({one.observation[0], one.action[0], one.reward, one.discount, one.next[0]});
  });
  return out;
}

TEST(TransitionsTest, OneStepIsATransition) {
  TransitionJoiner joiner({.steps = 1, .discount = 0.5F}, 2);
  EXPECT_EQ(
      join(joiner, segment_from(0, 2)),
      (std::vector<Joined>{{0, 0, 1, 0.5F, 1}, {100, 0, 1, 0.5F, 101}, {1, -1, 2, 0.5F, 2}, {101, -1, 2, 0.5F, 102}}));
}

TEST(TransitionsTest, SeveralStepsAreJoinedAcrossSegments) {
  TransitionJoiner joiner({.steps = 3, .discount = 0.5F}, 2);
  EXPECT_TRUE(join(joiner, segment_from(0, 2)).empty());
  const std::vector<Joined> found = join(joiner, segment_from(2, 1));
  // 1 + 2/2 + 4/4, and the discount 1/8.
  EXPECT_EQ(found, (std::vector<Joined>{{0, 0, 3, 0.125F, 3}, {100, 0, 3, 0.125F, 103}}));
  EXPECT_EQ(join(joiner, segment_from(3, 1)).at(1), (Joined{101, -1, 6, 0.125F, 104}));
}

TEST(TransitionsTest, AnEpisodeThatEndsGivesShorterTransitionsToItsLastObservation) {
  TransitionJoiner joiner({.steps = 3, .discount = 0.5F}, 2);
  using enum EpisodeEnd;
  // Copy 1 terminates in step 1 (column 3); copy 0 is truncated in step 2 (column 4).
  const std::vector<Joined> found = join(joiner, segment_from(0, 3, {none, none, none, terminated, truncated, none}));
  EXPECT_EQ(found, (std::vector<Joined>{{100, 0, 2, 0, 1003},
                                        {101, -1, 2, 0, 1003},
                                        {0, 0, 3, 0.125F, 1004},
                                        {1, -1, 4, 0.25F, 1004},
                                        {2, -2, 4, 0.5F, 1004}}));
  // The next episodes have nothing of those that ended.
  EXPECT_EQ(join(joiner, segment_from(3, 2)).at(0).from, 102);
}

TEST(TransitionsTest, NoStepIsRefused) { EXPECT_THROW(TransitionJoiner({.steps = 0}, 2), Error); }

}  // namespace
}  // namespace lp
