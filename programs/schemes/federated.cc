#include "programs/schemes/federated.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "programs/training/decentralized.h"
#include "programs/training/gradient_guard.h"
#include "programs/training/rows.h"

namespace lp {
namespace {

class FederatedExchange final : public Exchange {
 public:
  FederatedExchange(const ExchangeParts& parts, Client<FederatedServer> rounds)
      : rounds_(std::move(rounds)),
        worker_(parts.worker),
        rule_(parts.training.rule),
        guard_(parts.training.bad_values, parts.worker),
        own_examples_(parts.own_examples),
        round_steps_(parts.round_steps),
        parameters_(parts.model.size()) {}

  std::uint64_t begin() override { return next_round(); }
  const Eigen::VectorXf& parameters(std::uint64_t, const Rows&) override { return parameters_; }
  std::uint64_t push(std::uint64_t step, const Rows&, const BatchGradient& batch) override {
    descend(optimizer_, parameters_, guard_.checked(step, batch.gradient), batch.examples);
    if ((step + 1) % round_steps_ != 0) return step + 1;
    const auto values = Array<float>::copy_of(flat(parameters_));
    if (!rounds_.call<&FederatedServer::contribute>(worker_, step / round_steps_, values)) ++late_;
    traffic_.sent += values.size() * sizeof(float);
    return next_round();
  }
  Traffic traffic() const override { return traffic_; }
  std::function<Parameters()> result() const override {
    return [learned = Parameters{.step = round_, .values = parameters_}] { return learned; };
  }
  std::uint64_t dropped() const override { return late_; }

 private:
  std::uint64_t next_round() {
    Round round;
    while (!round.selected && !round.over) round = rounds_.call<&FederatedServer::next>(worker_, own_examples_);
    if (round.state.size() != static_cast<std::size_t>(parameters_.size())) {
      throw Error(ErrorKind::failed, "the rounds train a model of " + std::to_string(round.state.size()) +
                                         " parameters, but this client's model has " +
                                         std::to_string(parameters_.size()));
    }
    std::copy(round.state.begin(), round.state.end(), parameters_.data());
    optimizer_ = {.rule = rule_};
    traffic_.received += round.state.size() * sizeof(float);
    round_ = round.number;
    return round.over ? kUnbounded : round.number * round_steps_;
  }

  const Client<FederatedServer> rounds_;
  const std::uint32_t worker_;
  const OptimizerRule rule_;
  GradientGuard guard_;
  const std::uint64_t own_examples_;
  const std::uint64_t round_steps_;
  Eigen::VectorXf parameters_;
  Optimizer optimizer_{};
  Traffic traffic_{};
  std::uint64_t round_ = 0;
  std::uint64_t late_ = 0;  // contributions
};

}  // namespace

std::vector<std::uint32_t> client_examples(const Dataset& data, WorkerRank client, std::uint32_t label_shards,
                                           std::uint64_t run_seed) {
  if (data.examples() == 0) throw Error(ErrorKind::failed, "there are no examples for the clients");
  std::vector<std::uint32_t> order(static_cast<std::size_t>(data.examples()));
  std::iota(order.begin(), order.end(), 0U);
  Random random(run_seed, "clients");
  random.shuffle(std::span(order));
  if (label_shards > 0) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return data.labels(a) < data.labels(b); });
  }
  const std::uint64_t own = std::max(label_shards, 1U);
  std::vector<std::uint64_t> shards(client.workers * own);
  std::iota(shards.begin(), shards.end(), 0U);
  if (label_shards > 0) random.shuffle(std::span(shards));
  std::vector<std::uint32_t> out;
  for (std::uint64_t i = client.worker * own; i < (client.worker + 1) * own; ++i) {
    const std::size_t first = order.size() * shards[i] / shards.size();
    const std::size_t last = order.size() * (shards[i] + 1) / shards.size();
    out.insert(out.end(), &order[0] + first, &order[0] + last);
  }
  return out;
}

TrainingGraph add_federated_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                     const Federated& federated) {
  if (federated.epochs == 0) throw Error(ErrorKind::failed, "a round would have 0 epochs: give 1 or more");
  const auto rounds = program.add<FederatedServer>({.name = "rounds", .on_failure = restart_or_stop(training)}, context,
                                                   GroupHandle<Learner>("worker", training.workers),
                                                   RoundsOptions{.share = federated.share,
                                                                 .rounds = training.steps,
                                                                 .patience = federated.patience,
                                                                 .bad_values = training.bad_values,
                                                                 .checkpoint_every = training.checkpoint_every,
                                                                 .initial = initial_parameters(task),
                                                                 .reached = federated.reached});
  const auto own_examples = [shards = federated.label_shards](const Dataset& data, WorkerRank client,
                                                              std::uint64_t run_seed) {
    return client_examples(data, client, shards, run_seed);
  };
  return add_decentralized_workers(
      program, task, training,
      BoundScheme<Handle<FederatedServer>>{
          .scheme = {.own_examples = own_examples, .epochs = federated.epochs},
          .nodes = rounds,
          .exchange = [](const ExchangeParts& parts, const Client<FederatedServer>& client) {
            return std::make_unique<FederatedExchange>(parts, client);
          }});
}

}  // namespace lp
