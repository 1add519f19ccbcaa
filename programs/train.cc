#include "programs/train.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "nodes/checkpointer.h"
#include "nodes/evaluator.h"
#include "nodes/metrics.h"
#include "programs/evaluation.h"
#include "programs/linear.h"
#include "programs/mlp.h"
#include "programs/schemes.h"

namespace lp {
namespace {

Dataset all_data_of(const TrainConfig& config) {
  return load_data(config.data, {.storage = config.sparse ? Storage::sparse : Storage::dense});
}

// The nodes that look on while others train.
void add_observers(Program& program, const TrainConfig& config) {
  const bool looks = config.evaluate_every > 0;
  if (!looks && config.target > 0 && program.find("rounds") == std::nullopt) {
    throw Error(ErrorKind::failed, "--target needs looks at the test accuracy: give --evaluate-every=SECONDS");
  }
  if (!looks && !config.curves.empty()) {
    throw Error(ErrorKind::failed, "--curves needs looks at the test accuracy: give --evaluate-every=SECONDS");
  }
  if (!looks && config.snapshots.empty()) return;
  const auto& groups = program.groups();
  const auto found =
      std::find_if(groups.begin(), groups.end(), [](const GroupSpec& one) { return one.options.name == "server"; });
  if (found == groups.end()) {
    throw Error(ErrorKind::failed, "no server has the parameters that are learned: leave out what looks at them");
  }
  const GroupHandle<ParameterServer> servers("server", found->size);
  const auto model = [config] { return model_of(config); };
  if (looks) {
    EvaluatorOptions options{
        .period = from_seconds(config.evaluate_every),
        .judge = loss_and_accuracy(model, [config](std::uint64_t run_seed) { return data_of(config, run_seed).test; })};
    if (config.target > 0) {
      options.reached = [target = config.target](const MetricValues& values) { return values.back().second >= target; };
    }
    const auto metrics = program.add<Metrics>({.name = "metrics"});
    program.add<Evaluator>({.name = "evaluator"}, servers, metrics, options);
  }
  if (!config.snapshots.empty()) {
    const CheckpointerOptions options{.directory = config.snapshots,
                                      .period = from_seconds(config.snapshot_every),
                                      .size = [model] { return model()->size(); }};
    program.add<Checkpointer>({.name = "checkpointer"}, servers, options);
  }
}

}  // namespace

Split data_of(const TrainConfig& config, std::uint64_t run_seed) { return split(all_data_of(config), run_seed); }

std::unique_ptr<Model> model_of(const TrainConfig& config) {
  if (config.model != ModelKind::linear) return std::make_unique<Mlp>(units_of(config), Activation::tanh);
  const Dataset data = all_data_of(config);
  return std::make_unique<LinearModel>(data.inputs(), data.classes);
}

std::vector<Eigen::Index> units_of(const TrainConfig& config) {
  if (config.sparse) throw Error(ErrorKind::failed, "--sparse goes with --model=linear");
  const Dataset data = all_data_of(config);
  std::vector<Eigen::Index> units{data.inputs()};
  if (config.model == ModelKind::mlp) units.insert(units.end(), config.hidden.begin(), config.hidden.end());
  units.push_back(data.classes);
  return units;
}

float rate_of(const TrainConfig& config) {
  constexpr std::array kRates{0.1F, 0.02F, 0.03F, 0.003F, 0.3F};
  return config.rate.value_or(kRates.at(static_cast<std::size_t>(config.rule)));
}

OptimizerRule rule_of(const TrainConfig& config) {
  const float rate = rate_of(config);
  switch (config.rule) {
    case RuleKind::sgd: break;
    case RuleKind::momentum: return Momentum{.rate = rate, .decay = config.momentum};
    case RuleKind::adagrad: return AdaGrad{.rate = rate};
    case RuleKind::adam: return Adam{.rate = rate};
    case RuleKind::ftrl: return Ftrl{.rate = rate};
  }
  return Sgd{.rate = rate};
}

static_assert(static_cast<int>(GradientCompression::dither) == static_cast<int>(Compression::dither));

Program make_training(const TrainConfig& config) {
  const NamedScheme& scheme = named_scheme(config.scheme);
  check_flags(config, scheme);
  const ServerTraining training{
      .workers = config.workers,
      .servers = config.servers,
      .steps = config.steps,
      .batch = config.batch,
      .rule = rule_of(config),
      .cut_every = config.cut_every,
      .restarts = config.restarts,
      .replicated = config.replicated,
      .bad_values = config.bad_values,
      .compression = {.kind = static_cast<Compression>(config.compression), .share = config.share}};
  const LearningTask task{.model = [config] { return model_of(config); },
                          .data = [config](std::uint64_t run_seed) { return data_of(config, run_seed).train; }};
  Program program(std::string("train"));
  scheme.add(program, task, training, config);
  add_observers(program, config);
  return program;
}

}  // namespace lp
