#include "programs/schemes/gossip.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "nodes/collective/gossip_member.h"
#include "nodes/commits.h"
#include "programs/schemes/replica.h"
#include "programs/training/decentralized.h"
#include "programs/training/gradient_guard.h"
#include "programs/training/rows.h"

namespace lp {
namespace {

using GossipNodes = BothNodes<GroupHandle<GossipMember>, Handle<Commits>>;

class GossipExchange final : public Exchange {
 public:
  GossipExchange(const ExchangeParts& parts, const GossipNodes::Called& nodes, double probability)
      : members_(nodes.first),
        commits_(nodes.second),
        worker_(parts.worker),
        seed_(parts.seed),
        probability_(probability),
        checkpoint_every_(parts.training.checkpoint_every),
        guard_(parts.training.bad_values, parts.worker),
        replica_{.parameters = parts.model.initialize(parts.seed), .optimizer = {.rule = parts.training.rule}} {}

  std::uint64_t begin() override {
    if (const Array<float> kept = commits_.call<&Commits::state>(worker_); !kept.empty()) {
      unpack(kept, replica_);
    } else {
      replica_.weight = own().call<&GossipMember::first_weight>();
      replica_.step = 0;
    }
    receive();
    return replica_.step;
  }
  const Eigen::VectorXf& parameters(std::uint64_t, const Rows&) override {
    receive();
    return replica_.parameters;
  }
  std::uint64_t push(std::uint64_t step, const Rows&, const BatchGradient& batch) override {
    descend(replica_.optimizer, replica_.parameters, guard_.checked(step, batch.gradient), batch.examples);
    replica_.step = std::max(replica_.step, step + 1);
    const auto workers = static_cast<std::uint32_t>(members_.size());
    const auto to = gossip_partner(seed_, {.worker = worker_, .workers = workers}, step, probability_);
    if (to && replica_.weight > 0) send(*to);
    if (checkpoint_every_ > 0 && replica_.step % checkpoint_every_ == 0) commit();
    return replica_.step;
  }
  // This worker's member keeps the model, and merges messages that still arrive.
  void end() override {
    receive();
    commit();
    own().call<&GossipMember::finish>(model());
  }
  Traffic traffic() const override { return traffic_; }
  // The mean of all models by their weights: GoSGD's estimate of the consensus. Each model is with its member. When no
  // weight is left, the result is this worker's own model.
  std::function<Parameters()> result() const override {
    return [members = members_, own = model()] {
      WeightedModel mean = own;
      mean.weight = 0;
      for (const auto& one : members.outcomes<&GossipMember::held>()) {
        if (one) mean.merge(one.value());
      }
      const auto size = static_cast<Eigen::Index>(mean.values.size());
      return Parameters{.step = mean.step, .values = Eigen::Map<const Eigen::VectorXf>(mean.values.data(), size)};
    };
  }

 private:
  const Client<GossipMember>& own() const { return members_[worker_]; }
  WeightedModel model() const {
    return {
        .weight = replica_.weight, .values = Array<float>::copy_of(flat(replica_.parameters)), .step = replica_.step};
  }
  void commit() { commits_.call<&Commits::put>(worker_, replica_.step, packed(replica_)); }

  void receive() {
    const WeightedModel sent = own().call<&GossipMember::take>();
    if (sent.weight == 0) return;
    if (replica_.weight == 0) replica_.step = std::max(replica_.step, sent.step);
    WeightedModel mine = model();
    mine.merge(sent);
    replica_.weight = mine.weight;
    replica_.parameters = Eigen::Map<const Eigen::VectorXf>(mine.values.data(), replica_.parameters.size());
    traffic_.received += sent.values.size() * sizeof(float);
  }
  void send(std::uint32_t to) {
    replica_.weight /= 2;
    try {
      if (!members_[to].call<&GossipMember::put>(model())) replica_.weight *= 2;
      traffic_.sent += static_cast<std::uint64_t>(replica_.parameters.size()) * sizeof(float);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected) throw;
      if (!error.may_have_run()) replica_.weight *= 2;  // else the weight is lost with the receiver, which may have it
    }
  }

  const Clients<GossipMember> members_;
  const Client<Commits> commits_;
  const std::uint32_t worker_;
  const std::uint64_t seed_;
  const double probability_;
  const std::uint64_t checkpoint_every_;
  GradientGuard guard_;
  Replica replica_;  // at its next step
  Traffic traffic_{};
};

}  // namespace

std::optional<std::uint32_t> gossip_partner(std::uint64_t seed, const WorkerRank& rank, std::uint64_t step,
                                            double probability) {
  Random random(seed, "gossip/" + std::to_string(rank.worker), step);
  if (rank.workers < 2 || random.uniform() >= probability) return std::nullopt;
  const auto other = static_cast<std::uint32_t>(random.below(rank.workers - 1));
  return other + (other >= rank.worker ? 1 : 0);
}

TrainingGraph add_gossip_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                  double probability) {
  if (!(probability >= 0 && probability <= 1)) {
    throw Error(ErrorKind::failed,
                "a probability of " + std::to_string(probability) + " to gossip: give a number from 0 to 1");
  }
  const auto members = program.group<GossipMember>(
      {.name = "gossip", .replicas = training.workers, .on_failure = worker_policy(training)}, context);
  // A cut is taken after this many steps of each worker.
  const auto workers = static_cast<std::uint32_t>(std::max(training.workers, 0));
  const auto commits =
      program.add<Commits>({.name = "commits", .on_failure = restart_or_stop(training)}, context, workers,
                           CutSchedule{.every = training.checkpoint_every * workers, .last = training.steps});
  TrainingGraph graph = add_decentralized_workers(
      program, task, training,
      BoundScheme<GossipNodes>{.scheme = {.division = Division::turns},
                               .nodes = {members, commits},
                               .exchange = [probability](const ExchangeParts& parts, const GossipNodes::Called& nodes) {
                                 return std::make_unique<GossipExchange>(parts, nodes, probability);
                               }});
  for (int i = 0; i < training.workers; ++i) program.colocate(graph.workers[i], members[i]);
  return graph;
}

}  // namespace lp
