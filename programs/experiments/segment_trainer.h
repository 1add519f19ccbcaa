#pragma once
// The common part of the nodes that learn from segments: the learner, its counts, what it publishes and logs, and its
// part of the program's cuts. Owned by a node; handlers run in its turn, update() in its run().

#include <cstdint>
#include <memory>
#include <span>

#include "lp/base/function.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/rpc/client.h"
#include "nodes/cut_schedule.h"
#include "nodes/metrics.h"
#include "programs/agents/agent.h"
#include "programs/experiments/parameter_source.h"

namespace lp {

class SegmentTrainer : public ParameterSource {
 public:
  // The training is over after `updates` updates; a cut is taken every `checkpoint_every` of them, and after the last.
  SegmentTrainer(Client<Metrics> metrics, std::unique_ptr<SegmentLearner> learner, std::uint64_t updates,
                 std::uint64_t checkpoint_every);

  void save(Checkpoint& out) const;
  void load(const Checkpoint& in);

 protected:
  bool over() const { return done().updates >= updates_ || ended_early(); }
  // Learns from the segments, and then, in the node's turn, publishes the new parameters and calls `release`.
  void update(Context& node, std::span<const Segment> segments, Function<void()> release);

 private:
  double progress() const { return static_cast<double>(done().updates) / static_cast<double>(updates_); }
  void count(std::span<const Segment> segments);
  void publish();

  const std::unique_ptr<SegmentLearner> learner_;
  const std::uint64_t updates_;
  CutSchedule cuts_;
};

}  // namespace lp
