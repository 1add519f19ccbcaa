#include "programs/gossip.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "nodes/gossip_member.h"
#include "programs/gradient_guard.h"
#include "programs/rows.h"
#include "programs/serverless.h"

namespace lp {
namespace {

class GossipExchange final : public Exchange {
 public:
  GossipExchange(const ExchangeParts& parts, const Clients<GossipMember>& members, double probability)
      : members_(members),
        worker_(parts.worker),
        seed_(parts.seed),
        probability_(probability),
        guard_(parts.training.bad_values, parts.worker),
        optimizer_{.rule = parts.training.rule},
        parameters_(parts.model.initialize(parts.seed)) {}

  std::uint64_t begin() override {
    weight_ = own().call<&GossipMember::first_weight>();
    step_ = 0;
    receive();
    return step_;
  }
  const Eigen::VectorXf& parameters(std::uint64_t, const Rows&) override {
    receive();
    return parameters_;
  }
  std::uint64_t push(std::uint64_t step, const Rows&, const BatchGradient& batch) override {
    descend(optimizer_, parameters_, guard_.checked(step, batch.gradient), batch.examples);
    step_ = std::max(step_, step + 1);
    Random random(seed_, "gossip/" + std::to_string(worker_), step);
    if (members_.size() > 1 && weight_ > 0 && random.uniform() < probability_) {
      const std::uint64_t other = random.below(members_.size() - 1);
      send(other + (other >= worker_ ? 1 : 0));
    }
    return step_;
  }
  // The own member keeps the model, with what others still send.
  void end() override {
    receive();
    own().call<&GossipMember::put>(model());
  }
  Traffic traffic() const override { return traffic_; }
  Eigen::VectorXf result() const override { return parameters_; }

 private:
  const Client<GossipMember>& own() const { return members_[worker_]; }
  WeightedModel model() const {
    return {.weight = weight_, .values = Array<float>::copy_of(flat(parameters_)), .step = step_};
  }

  void receive() {
    const WeightedModel sent = own().call<&GossipMember::take>();
    if (sent.weight == 0) return;
    if (weight_ == 0) step_ = std::max(step_, sent.step);
    WeightedModel mine = model();
    mine.merge(sent);
    weight_ = mine.weight;
    parameters_ = Eigen::Map<const Eigen::VectorXf>(mine.values.data(), parameters_.size());
    traffic_.received += sent.values.size() * sizeof(float);
  }
  void send(std::uint64_t to) {
    weight_ /= 2;
    try {
      members_[to].call<&GossipMember::put>(model());
      traffic_.sent += static_cast<std::uint64_t>(parameters_.size()) * sizeof(float);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected) throw;
      if (!error.may_have_run()) weight_ *= 2;  // else it went down with who may have it
    }
  }

  const Clients<GossipMember> members_;
  const std::uint32_t worker_;
  const std::uint64_t seed_;
  const double probability_;
  GradientGuard guard_;
  Optimizer optimizer_;
  Eigen::VectorXf parameters_;
  double weight_ = 0;
  std::uint64_t step_ = 0;  // the next one
  Traffic traffic_{};
};

}  // namespace

TrainingGraph add_gossip_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                  double probability) {
  if (!(probability >= 0 && probability <= 1)) {
    throw Error(ErrorKind::failed, "a probability of " + std::to_string(probability) + " to gossip: give 0 to 1");
  }
  const auto members = program.group<GossipMember>(
      {.name = "gossip", .replicas = training.workers, .on_failure = worker_policy(training)}, context);
  TrainingGraph graph = add_serverless_workers(
      program, task, training,
      BoundScheme<GroupHandle<GossipMember>>{
          .scheme = {.division = Division::turns},
          .nodes = members,
          .exchange = [probability](const ExchangeParts& parts, const Clients<GossipMember>& all) {
            return std::make_unique<GossipExchange>(parts, all, probability);
          }});
  for (int i = 0; i < training.workers; ++i) program.colocate(graph.workers[i], members[i]);
  return graph;
}

}  // namespace lp
