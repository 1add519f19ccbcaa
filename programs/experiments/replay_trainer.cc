#include "programs/experiments/replay_trainer.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "lp/base/error.h"
#include "nodes/replay/sampler.h"
#include "nodes/replay/trajectory_writer.h"

namespace lp {
namespace {

constexpr const char* kTable = "transitions";

Eigen::Map<const Eigen::MatrixXf> matrix_of(const Array<float>& values, std::size_t columns) {
  const auto count = static_cast<Eigen::Index>(columns);
  return {values.data(), static_cast<Eigen::Index>(values.size()) / count, count};
}

}  // namespace

replay::ServerOptions transition_table(const ReplayOptions& options) {
  const EnvironmentSpec spec = options.environment()->spec();
  const auto& replayed = std::get<Replayed>(options.agent.training);
  const auto observation = static_cast<std::uint32_t>(spec.observation.size());
  replay::TableOptions table{
      .name = kTable,
      .columns = {replay::column<float>("observation", observation),
                  replay::column<float>("action", static_cast<std::uint32_t>(spec.action.size())),
                  replay::column<float>("reward"), replay::column<float>("discount"),
                  replay::column<float>("next", observation)},
      .max_items = replayed.items};
  if (replayed.priority_exponent > 0) table.sampler = replay::Prioritized{.exponent = replayed.priority_exponent};
  // Inserts come in segments, and samples in batches: neither may be refused as a whole.
  const auto segment = static_cast<double>(options.agent.copies * options.agent.steps) * options.actors;
  const double buffer = 2 * (static_cast<double>(replayed.batch) + replayed.samples_per_insert * segment);
  table.limits = replay::sample_to_insert(replayed.samples_per_insert, replayed.first_items, buffer);
  replay::ServerOptions server;
  server.tables = {std::move(table)};
  return server;
}

ReplayTrainer::ReplayTrainer(Context& node, Client<replay::SavedServer> replay, Client<Metrics> metrics,
                             const ReplayOptions& options)
    : ParameterSource(std::move(metrics)),
      replay_(std::move(replay)),
      options_(std::get<Replayed>(options.agent.training)),
      updates_(options.updates),
      cuts_{.every = options.checkpoint_every, .last = options.updates},
      learner_(options_.learner(options.environment()->spec(), node.program_seed())) {
  publish();
}

double ReplayTrainer::progress() const { return static_cast<double>(done().updates) / static_cast<double>(updates_); }

void ReplayTrainer::publish() {
  learned.publish(
      {.steps = done().steps, .updates = done().updates, .progress = progress(), .parameters = learner_->policy()});
}

// Sets batch_ to the sampled transitions.
void ReplayTrainer::sampled(const replay::Batch& batch) {
  const std::size_t count = batch.size();
  batch_.observations = matrix_of(batch.gather<float>("observation", 0), count);
  batch_.actions = matrix_of(batch.gather<float>("action", 0), count);
  batch_.rewards = matrix_of(batch.gather<float>("reward", 0), count).transpose();
  batch_.discounts = matrix_of(batch.gather<float>("discount", 0), count).transpose();
  batch_.next = matrix_of(batch.gather<float>("next", 0), count);
  const double exponent = options_.weight_exponent + progress() * (1 - options_.weight_exponent);
  const std::vector<float> weights = batch.importance_weights(options_.priority_exponent > 0 ? exponent : 0);
  batch_.weights = Eigen::Map<const Eigen::VectorXf>(weights.data(), static_cast<Eigen::Index>(count));
}

void ReplayTrainer::run(Context& node) {
  remember_reported(node);
  replay::Sampler sampler(replay_, kTable, {.timeout = kTransitionTimeout});
  Eigen::VectorXf priorities;
  std::vector<double> sent;
  while (!over()) {
    const replay::Batch batch = sampler.sample(options_.batch);
    sampled(batch);
    const std::uint64_t update = done().updates + 1;
    const MetricValues values = learner_->learn(batch_, progress(), node.random(update), priorities);
    if (options_.priority_exponent > 0) {
      sent.assign(priorities.begin(), priorities.end());
      sampler.update_priorities(batch.keys(), sent);
    }
    bool due = update % options_.publish_every == 0;
    node.exclusive([&] {
      counter_.add_update();
      end_if_asked();
      due = due || over();
      if (due) publish();
    });
    if (due) report(node, updates_, values);
    if (!cuts_.due(update, over())) continue;
    replay_.call<&replay::SavedServer::checkpoint>(update);
    node.checkpoint(update);
  }
  end(node);
}

void ReplayTrainer::save(Checkpoint& out) const {
  counter_.save(out);
  learner_->save(out);
}

void ReplayTrainer::load(const Checkpoint& in) {
  counter_.load(in);
  cuts_.cut = done().updates;
  learner_->load(in);
  publish();
}

ReplayActor::ReplayActor(Context& node, Client<ReplayTrainer> learner, const Clients<PolicyService>& servers,
                         Client<replay::Server> replay, const ReplayOptions& options)
    : learner_(std::move(learner)),
      replay_(std::move(replay)),
      options_(std::get<Replayed>(options.agent.training)),
      steps_(options.agent.steps),
      environments_(options.environment, options.agent.copies, node.seed() + node.incarnation()),
      acting_(make_acting(learner_, servers, options.agent.policy, environments_.spec())) {}

void ReplayActor::run(Context& node) {
  replay::TrajectoryWriter writer(replay_, kTable, {.window = 1, .timeout = ReplayTrainer::kTransitionTimeout});
  TransitionJoiner joiner(options_.n_step, environments_.copies());
  for (std::uint64_t segments = 0; !node.stopping(); ++segments) {
    Random random = node.random(segments * 1024 + node.incarnation());
    const Segment segment = acting_->act(environments_, random, steps_, 0);
    joiner.add(segment, [&](const Transition& one) {
      writer.append(one.observation, one.action, one.reward, one.discount, one.next);
      writer.add_item(1);
    });
    writer.flush();
    learner_.send<&ReplayTrainer::played>(segment.size(), segment.finished);
  }
}

template const NodeType& internal::node_type<ReplayTrainer>();

}  // namespace lp
