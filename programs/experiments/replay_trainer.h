#pragma once
// An agent that learns from a replay table: actors insert transitions, and the learner samples batches of them. The
// table's limiter keeps both in proportion. The learner and the replay server are in the program's cuts; actors keep
// nothing, and a restarted one begins new episodes.
//
//     actor/0 ─┬─▶ replay ◀─ learner ─▶ metrics
//     actor/1 ─┘               ▲
//          └───────────────────┘ parameters
//
// Nodes: run() acts or learns; handlers run in their turn.

#include <cstdint>
#include <memory>
#include <vector>

#include "lp/program/node_type.h"
#include "lp/rpc/client.h"
#include "nodes/cut_schedule.h"
#include "nodes/metrics.h"
#include "nodes/replay/batch.h"
#include "nodes/replay/server.h"
#include "programs/agents/agent.h"
#include "programs/environments/environment_batch.h"
#include "programs/experiments/acting.h"
#include "programs/experiments/parameter_source.h"

namespace lp {

struct ReplayOptions {
  Agent agent{};
  MakeEnvironment environment{};
  int actors = 1;
  std::uint64_t updates = 1;
  std::uint64_t checkpoint_every = 0;  // updates; 0: a cut after the last one only
};

// The table of an agent's transitions.
replay::ServerOptions transition_table(const ReplayOptions& options);

class ReplayTrainer final : public ParameterSource {
 public:
  ReplayTrainer(Context& node, Client<replay::SavedServer> replay, Client<Metrics> metrics,
                const ReplayOptions& options);

  // Learns until all updates are done. Error::deadline when too few transitions come in kTransitionTimeout.
  void run(Context& node);

  // Called by an actor after each segment.
  void played(std::uint64_t steps, const std::vector<FinishedEpisode>& finished) {
    counter_.add_steps(steps, finished);
  }

  void save(Checkpoint& out) const;
  void load(const Checkpoint& in);

  static constexpr auto kTransitionTimeout = std::chrono::minutes(10);

  using Remote = Methods<&ParameterSource::counts, &ParameterSource::learned,
                         deadline<idempotent<&ParameterSource::end_early>, kLastUpdate>, &ReplayTrainer::played>;

 private:
  bool over() const { return done().updates >= updates_ || ended_early(); }
  double progress() const;
  void publish();
  void sampled(const replay::Batch& batch);

  const Client<replay::SavedServer> replay_;
  const Replayed options_;
  const std::uint64_t updates_;
  CutSchedule cuts_;
  const std::unique_ptr<TransitionLearner> learner_;
  Transitions batch_{};  // memory of run()
};

class ReplayActor {
 public:
  // Asks the servers for its actions; without servers it has a policy of its own.
  ReplayActor(Context& node, Client<ReplayTrainer> learner, const Clients<PolicyService>& servers,
              Client<replay::Server> replay, const ReplayOptions& options);

  // Acts until the program ends. While the learner is being restored, it acts by the parameters that it has. Errors as
  // EnvironmentBatch::step.
  void run(Context& node);

 private:
  const Client<ReplayTrainer> learner_;
  const Client<replay::Server> replay_;
  const Replayed options_;
  const std::size_t steps_;
  EnvironmentBatch environments_;
  const std::unique_ptr<Acting> acting_;
};

// The tables that calls of this class need are compiled once, in replay_trainer.cc.
extern template const NodeType& internal::node_type<ReplayTrainer>();

}  // namespace lp
