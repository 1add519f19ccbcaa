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
#include <span>
#include <string>

#include "lp/base/random.h"
#include "lp/checkpoint/checkpoint.h"
#include "nodes/metrics.h"
#include "programs/agents/policy.h"
#include "programs/agents/segment.h"
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

struct Agent {
  std::string name{};
  MakePolicy policy{};
  std::size_t copies = 8;  // of the environment, in each actor
  std::size_t steps = 32;  // of each copy, in a segment
  Rounds training{};
};

}  // namespace lp
