#pragma once
// An agent that learns from a queue of segments, as in IMPALA: actors put segments into a Mailbox and go on by the
// newest parameters; the learner takes them in the order of arrival. The learner is in the program's cuts; the others
// keep nothing, and a restarted one begins anew.
//
//     actor/0 ─┬─▶ queue ◀─ learner ─▶ metrics
//     actor/1 ─┘              ▲
//          └──────────────────┘ parameters
//
// Nodes: run() acts or learns; handlers run in their turn.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "lp/program/node_type.h"
#include "nodes/mailbox.h"
#include "programs/environments/environment_batch.h"
#include "programs/experiments/acting.h"
#include "programs/experiments/segment_trainer.h"

namespace lp {

using SegmentQueue = Mailbox<Segment>;

struct QueueOptions {
  Agent agent{};
  MakeEnvironment environment{};
  std::uint64_t updates = 1;
  std::uint64_t checkpoint_every = 0;  // updates; 0: a cut after the last one only
};

class QueueTrainer final : public SegmentTrainer {
 public:
  QueueTrainer(Context& node, Client<SegmentQueue> queue, Client<Metrics> metrics, const QueueOptions& options);

  // Learns until all updates are done. Segments by a policy that is older than Queued::most_age are dropped and
  // counted. Error::deadline when no segment comes for Mailbox::kLongestWait.
  void run(Context& node);

  using Remote = ParameterSource::Remote;

 private:
  bool too_old(const Segment& segment) const;

  const Client<SegmentQueue> queue_;
  const Queued options_;
};

class QueueActor {
 public:
  // Asks the servers for its actions; without servers it has a policy of its own.
  QueueActor(Context& node, Client<ParameterSource> learner, const Clients<PolicyService>& servers,
             Client<SegmentQueue> queue, const QueueOptions& options);

  // Acts until the program ends. While the learner is being restored, it acts by the parameters that it has. Errors as
  // EnvironmentBatch::step.
  void run(Context& node);

 private:
  const Client<SegmentQueue> queue_;
  const std::size_t steps_;
  EnvironmentBatch environments_;
  const std::unique_ptr<Acting> acting_;
};

// The tables that calls of these classes need are compiled once, in queue_trainer.cc.
extern template const NodeType& internal::node_type<SegmentQueue>();
extern template const NodeType& internal::node_type<QueueTrainer>();

}  // namespace lp
