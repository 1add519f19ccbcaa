#include "programs/schemes/replicas.h"

#include <optional>

#include "nodes/commits.h"
#include "programs/training/decentralized.h"
#include "programs/training/gradient_guard.h"

namespace lp {
namespace {

using ReplicaNodes = BothNodes<GroupHandle<CollectiveMember>, Handle<Commits>>;

class ReplicaExchange final : public Exchange {
 public:
  ReplicaExchange(const ExchangeParts& parts, const ReplicaNodes::Called& nodes, const ReplicaScheme& scheme)
      : checkpoint_every_(parts.training.checkpoint_every),
        turns_(scheme.division == Division::turns),
        guard_(parts.training.bad_values, parts.worker),
        all_(nodes.first, parts.worker, scheme.collective),
        commits_(nodes.second),
        rule_(scheme.rule()),
        replica_{.parameters = parts.model.initialize(parts.seed), .optimizer = {.rule = parts.training.rule}},
        committed_(packed(replica_)) {}

  std::uint64_t begin() override {
    const Session& session = all_.join(progress_);
    if (session.over) {
      unpack(all_.last_state(), replica_);
      over_ = true;
      return kUnbounded;
    }
    if (session.progress == 0 && all_.rank() == session.source) {
      if (const Array<float> kept = commits_.call<&Commits::state>(0); !kept.empty()) committed_ = kept;
    }
    committed_ = all_.broadcast(committed_, session.source);
    unpack(committed_, replica_);
    progress_ = replica_.step + 1;
    equal_ = true;
    return replica_.step;
  }
  const Eigen::VectorXf& parameters(std::uint64_t, const Rows&) override { return replica_.parameters; }
  std::uint64_t push(std::uint64_t step, const Rows&, const BatchGradient& batch) override {
    equal_ = rule_->step(replica_, all_, guard_.checked(step, batch.gradient), batch.examples);
    replica_.step = step + 1;
    replica_.batches += turns_ ? all_.ranks() : 1;
    if (equal_ && checkpoint_every_ > 0 && replica_.step >= progress_ - 1 + checkpoint_every_) commit();
    return step + 1;
  }
  void end() override {
    if (over_) return;
    if (!equal_) rule_->end(replica_, all_);
    commit();
    all_.finish(committed_);
  }
  std::optional<Position> position() const override {
    return Position{.batch = replica_.batches, .rank = {.worker = all_.rank(), .workers = all_.ranks()}};
  }
  Traffic traffic() const override {
    return {.sent = all_.statistics().bytes_sent, .received = all_.statistics().bytes_received};
  }
  std::function<Parameters()> result() const override {
    const bool blocks = replica_.global.size() > 0;
    return [learned = Parameters{.step = replica_.step, .values = blocks ? replica_.global : replica_.parameters}] {
      return learned;
    };
  }

 private:
  // Called when all workers have the same replica.
  void commit() {
    committed_ = packed(replica_);
    progress_ = replica_.step + 1;
    if (all_.rank() == 0) commits_.call<&Commits::put>(0U, replica_.batches, committed_);
  }

  const std::uint64_t checkpoint_every_;
  const bool turns_;
  GradientGuard guard_;
  Collective all_;
  const Client<Commits> commits_;
  const std::unique_ptr<ReplicaRule> rule_;
  Replica replica_;
  Array<float> committed_;
  std::uint64_t progress_ = 0;  // 1 + the steps of the commit; 0: it has this worker's own first parameters
  bool equal_ = false;          // all workers have this replica
  bool over_ = false;
};

}  // namespace

TrainingGraph add_replica_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                   const ReplicaScheme& scheme) {
  const auto members = program.group<CollectiveMember>(
      {.name = "collective", .replicas = training.workers, .on_failure = worker_policy(training)}, context);
  const auto commits = program.add<Commits>({.name = "commits", .on_failure = restart_or_stop(training)}, context, 1U,
                                            CutSchedule{.every = training.checkpoint_every, .last = training.steps});
  TrainingGraph graph = add_decentralized_workers(
      program, task, training,
      BoundScheme<ReplicaNodes>{.scheme = {.division = scheme.division},
                                .nodes = {members, commits},
                                .exchange = [scheme](const ExchangeParts& parts, const ReplicaNodes::Called& nodes) {
                                  return std::make_unique<ReplicaExchange>(parts, nodes, scheme);
                                }});
  for (int i = 0; i < training.workers; ++i) program.colocate(graph.workers[i], members[i]);
  return graph;
}

}  // namespace lp
