#pragma once
// An agent: a policy that acts, a learner that improves it, and the way of the experience from one to the other. To add
// an agent, write one file with a Policy, a learner and a function that returns an Agent; ppo.cc is an example.
// add_experiment (experiment.h) makes a distributed program of it.
//
// Agents are values. A learner is owned by a node; one thread at a time.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "lp/base/random.h"
#include "lp/checkpoint/checkpoint.h"
#include "nodes/metrics.h"
#include "programs/agents/policy.h"
#include "programs/agents/segment.h"
#include "programs/agents/transitions.h"
#include "programs/environments/environment.h"

namespace lp {

// Learns from the segments of an on-policy agent.
class SegmentLearner {
 public:
  virtual ~SegmentLearner() = default;

  // The parameters of the policy.
  virtual Array<float> policy() const = 0;

  // Improves the policy. `progress` is the share of the training that was done before. Returns values to log. The
  // result is a function of the arguments and of the calls before.
  virtual MetricValues learn(std::span<const Segment> segments, double progress, Random random) = 0;

  // Its whole state, so that a restored learner goes on with the same bits.
  virtual void save(Checkpoint& out) const = 0;
  virtual void load(const Checkpoint& in) = 0;
};

using MakeSegmentLearner =
    std::function<std::unique_ptr<SegmentLearner>(const EnvironmentSpec& spec, std::uint64_t seed)>;

// Actors and learner in lock step: in each round, every actor sends one segment by the newest policy, then the learner
// learns from all of them. The result is a function of the configuration and the seed.
struct Rounds {
  MakeSegmentLearner learner{};
};

// Actors put segments into a queue, which the learner takes from. Nobody waits for the slowest, and the policy that
// acts may be older than the one that learns.
struct Queued {
  MakeSegmentLearner learner{};
  std::size_t batch = 1;  // segments that it learns from at a time
  std::size_t room = 4;   // for segments that wait; a full queue lets actors wait
  // The learner drops segments whose policy is more updates older than its own. Without a number it learns from all.
  std::optional<std::uint64_t> most_age{};
};

// Learns from transitions that a replay table holds.
class TransitionLearner {
 public:
  virtual ~TransitionLearner() = default;

  // The parameters of the policy.
  virtual Array<float> policy() const = 0;

  // Improves the policy; `progress` and `random` as for a SegmentLearner. Sets `priorities` to one for each transition,
  // at least 0: the size of its error. Returns values to log.
  virtual MetricValues learn(const Transitions& batch, double progress, Random random, Eigen::VectorXf& priorities) = 0;

  // Its whole state.
  virtual void save(Checkpoint& out) const = 0;
  virtual void load(const Checkpoint& in) = 0;
};

using MakeTransitionLearner =
    std::function<std::unique_ptr<TransitionLearner>(const EnvironmentSpec& spec, std::uint64_t seed)>;

// Actors put transitions into a replay table, and the learner samples batches of them.
struct Replayed {
  MakeTransitionLearner learner{};
  std::size_t batch = 64;            // transitions of an update
  std::uint64_t items = 100'000;     // room of the table; new transitions replace the oldest
  std::uint64_t first_items = 1000;  // the learner begins when the table has so many
  double samples_per_insert = 16;    // the table lets neither actors nor learner get ahead of this ratio
  double priority_exponent = 0;      // 0: each transition with the same probability
  double weight_exponent = 0.4;      // corrects for the priorities; it rises to 1 over the training
  NStep n_step{};                    // the steps of a transition
  std::uint64_t publish_every = 16;  // updates from one version of the parameters to the next
};

struct Agent {
  std::string name{};
  MakePolicy policy{};
  std::size_t copies = 8;  // environments of each actor
  std::size_t steps = 32;  // steps of each copy in a segment; then the actor takes new parameters
  std::variant<Rounds, Queued, Replayed> training{};
};

}  // namespace lp
