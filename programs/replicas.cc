#include "programs/replicas.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "programs/gradient_guard.h"
#include "programs/rows.h"
#include "programs/serverless.h"

namespace lp {
namespace {

// Numbers, then vectors: in the bits of an array of floats.
using Head = std::array<std::uint64_t, 7>;
constexpr std::size_t kHead = sizeof(Head) / sizeof(float);

Array<float> packed(const Replica& replica) {
  const std::array parts{flat(replica.parameters), std::span<const float>(replica.optimizer.first),
                         std::span<const float>(replica.optimizer.second), flat(replica.global), flat(replica.change)};
  Head head{replica.step, replica.optimizer.steps};
  std::size_t size = kHead;
  for (std::size_t i = 0; i < parts.size(); ++i) size += head[2 + i] = parts[i].size();
  auto out = Array<float>::uninitialized(size);
  float* to = out.edit().data();
  std::memcpy(to, head.data(), sizeof head);
  to += kHead;
  for (const std::span<const float> part : parts) to = std::copy(part.begin(), part.end(), to);
  return out;
}

void unpack(const Array<float>& values, Replica& replica) {
  Head head{};
  if (values.size() >= kHead) std::memcpy(head.data(), values.data(), sizeof head);
  std::size_t size = kHead;
  for (std::size_t i = 2; i < head.size(); ++i) size += head[i];
  if (values.size() != size || head[2] != static_cast<std::uint64_t>(replica.parameters.size())) {
    throw Error(ErrorKind::failed, "another worker's state has " + std::to_string(head[2]) +
                                       " parameters, this worker's model " + std::to_string(replica.parameters.size()));
  }
  const float* from = values.data() + kHead;
  const auto next = [&](std::size_t part) {
    const std::span<const float> out(from, head[part]);
    from += head[part];
    return out;
  };
  const auto vector = [&](std::size_t part) {
    const std::span<const float> part_values = next(part);
    return Eigen::VectorXf(
        Eigen::Map<const Eigen::VectorXf>(part_values.data(), static_cast<Eigen::Index>(head[part])));
  };
  replica.step = head[0];
  replica.optimizer.steps = head[1];
  replica.parameters = vector(2);
  const std::span<const float> first = next(3);
  replica.optimizer.first.assign(first.begin(), first.end());
  const std::span<const float> second = next(4);
  replica.optimizer.second.assign(second.begin(), second.end());
  replica.global = vector(5);
  replica.change = vector(6);
}

class ReplicaExchange final : public Exchange {
 public:
  ReplicaExchange(const ExchangeParts& parts, const Clients<CollectiveMember>& members, const ReplicaScheme& scheme)
      : training_(parts.training),
        guard_(parts.training.bad_values, parts.worker),
        all_(members, parts.worker, scheme.collective),
        rule_(scheme.rule()),
        replica_{.step = 0,
                 .parameters = parts.model.initialize(parts.seed),
                 .optimizer = {.rule = parts.training.rule},
                 .global = {},
                 .change = {}},
        committed_(packed(replica_)) {}

  std::uint64_t begin() override {
    const Session& session = all_.join(progress_);
    if (session.over) {
      unpack(all_.last_state(), replica_);
      over_ = true;
      return kUnbounded;
    }
    committed_ = all_.broadcast(committed_, session.source);
    unpack(committed_, replica_);
    progress_ = replica_.step + 1;
    return replica_.step;
  }
  const Eigen::VectorXf& parameters(std::uint64_t, const Rows&) override { return replica_.parameters; }
  std::uint64_t push(std::uint64_t step, const Rows&, const BatchGradient& batch) override {
    const bool equal = rule_->step(replica_, all_, guard_.checked(step, batch.gradient), batch.examples);
    replica_.step = step + 1;
    if (equal && training_.cut_every > 0 && replica_.step >= progress_ - 1 + training_.cut_every) {
      committed_ = packed(replica_);
      progress_ = replica_.step + 1;
    }
    return step + 1;
  }
  void end() override {
    if (over_) return;
    rule_->end(replica_, all_);
    all_.finish(packed(replica_));
  }
  std::optional<Place> place() const override { return Place{.worker = all_.rank(), .workers = all_.ranks()}; }
  Traffic traffic() const override {
    return {.sent = all_.statistics().bytes_sent, .received = all_.statistics().bytes_received};
  }
  Eigen::VectorXf result() const override { return replica_.parameters; }

 private:
  const ServerTraining& training_;
  GradientGuard guard_;
  Collective all_;
  const std::unique_ptr<ReplicaRule> rule_;
  Replica replica_;
  Array<float> committed_;
  std::uint64_t progress_ = 0;  // steps of the commit, and 1; 0: it is this worker's own first parameters
  bool over_ = false;
};

}  // namespace

TrainingGraph add_replica_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                   const ReplicaScheme& scheme) {
  const auto members = program.group<CollectiveMember>(
      {.name = "collective", .replicas = training.workers, .on_failure = worker_policy(training)}, context);
  TrainingGraph graph = add_serverless_workers(
      program, task, training,
      BoundScheme<GroupHandle<CollectiveMember>>{
          .scheme = {.division = scheme.division},
          .nodes = members,
          .exchange = [scheme](const ExchangeParts& parts, const Clients<CollectiveMember>& all) {
            return std::make_unique<ReplicaExchange>(parts, all, scheme);
          }});
  for (int i = 0; i < training.workers; ++i) program.colocate(graph.workers[i], members[i]);
  return graph;
}

}  // namespace lp
