#include "programs/train.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/scheduler.h"
#include "lp/kernels/chosen_device.h"
#include "nodes/checkpointer.h"
#include "nodes/evaluator.h"
#include "nodes/metrics.h"
#include "programs/schemes.h"
#include "programs/training/evaluation.h"

namespace lp {
namespace {

// The model in the file `init`, if given.
std::optional<KeptModel> first_model(const TrainConfig& config) {
  if (config.init.empty()) return std::nullopt;
  return read_model(config.init);
}

// The updates that the model had before this training.
std::uint64_t first_steps(const TrainConfig& config) {
  if (config.found.inputs != 0) return config.found.first_steps;
  const std::optional<KeptModel> first = first_model(config);
  return first ? first->steps : 0;
}

Dataset load(const TrainConfig& config, const std::string& name, Eigen::Index inputs) {
  return load_data(name, {.storage = config.sparse ? Storage::sparse : Storage::dense, .inputs = inputs});
}

void check_inputs(const Dataset& data, const std::string& name, Eigen::Index inputs, const std::string& other) {
  if (data.inputs() == inputs) return;
  throw Error(ErrorKind::failed, name + ": has examples of " + std::to_string(data.inputs()) + " features, but " +
                                     other + " has " + std::to_string(inputs));
}

// All examples, as their files have them, with the same classes.
Examples read_examples(const TrainConfig& config) {
  const std::optional<KeptModel> first = first_model(config);
  Examples out;
  out.data = load(config, config.data, first ? first->inputs() : 0);
  if (first) {
    check_inputs(out.data, config.data, first->inputs(), config.init);
    match_classes(out.data, first->names, first->classes(), config.data);
  }
  if (config.test.empty()) return out;
  out.test = load(config, config.test, out.data.inputs());
  check_inputs(out.test, config.test, out.data.inputs(), config.data);
  if (!first && out.data.names.empty()) out.data.classes = std::max(out.data.classes, out.test.classes);
  match_classes(out.test, out.data.names, out.data.classes, config.test);
  return out;
}

// The same, which must be what the launcher has found, if it has looked.
Examples read_the_same(const TrainConfig& config) {
  Examples out = read_examples(config);
  if (config.found.inputs != 0 &&
      (out.data.inputs() != config.found.inputs || out.data.classes != config.found.classes)) {
    throw Error(ErrorKind::failed, config.data + ": differs from the file on the host where the program was launched");
  }
  return out;
}

// The same, from shared memory where that is possible.
Examples examples_of(const TrainConfig& config, HostExamples* host) {
  if (auto shared = shared_examples({.path = config.found.path, .key = config.found.key})) return *std::move(shared);
  if (host == nullptr || config.found.key.empty()) return read_the_same(config);
  return host->take(config.found.key, [&config] { return read_the_same(config); });
}

FoundData found_in(const Examples& examples) {
  return {.inputs = examples.data.inputs(), .classes = examples.data.classes, .examples = examples.data.examples()};
}

// The options for snapshots: files of models, each with the parameters of its time.
struct Snapshots {
  TrainConfig config;
  std::shared_ptr<HostExamples> host = std::make_shared<HostExamples>();

  CheckpointerOptions dereference(Context& node) const {
    return {.directory = config.snapshots,
            .period = from_seconds(config.snapshot_every),
            .size = [all = config] { return model_of(all)->size(); },
            .beside = describe(kept_model(config, node.program_seed(), {}, host.get()))};
  }
};

// Adds the nodes that observe the training.
void add_observers(Program& program, const TrainConfig& config) {
  const bool looks = config.evaluate_every > 0;
  if (!looks && config.target > 0 && program.find("rounds") == std::nullopt) {
    throw Error(ErrorKind::failed,
                "--target needs the test accuracy during the training: give --evaluate-every=SECONDS");
  }
  if (!looks && !config.curves.empty()) {
    throw Error(ErrorKind::failed,
                "--curves needs the test accuracy during the training: give --evaluate-every=SECONDS");
  }
  if (!looks && config.snapshots.empty()) return;
  if (program.find_group("server") == nullptr) {
    throw Error(ErrorKind::failed, "no server holds the parameters: leave out evaluations and snapshots");
  }
  const FailurePolicy on_failure = config.restarts > 0 ? restart(config.restarts) : stop_program();
  const auto servers = program.group_handle<ParameterServer>("server");
  if (looks) {
    EvaluatorOptions options{.period = from_seconds(config.evaluate_every), .judge = judge_of(config)};
    if (config.target > 0) {
      options.reached = [target = config.target](const MetricValues& values) { return values.back().second >= target; };
    }
    const auto metrics = program.add<Metrics>({.name = "metrics", .on_failure = on_failure});
    program.add<Evaluator>({.name = "evaluator", .on_failure = on_failure}, servers, metrics, options);
  }
  if (!config.snapshots.empty()) {
    program.add<Checkpointer>({.name = "checkpointer", .on_failure = on_failure}, servers, Snapshots{config});
  }
}

}  // namespace

namespace {

// Refuses to replace what is no model, such as the data.
void check_save(const std::filesystem::path& file) {
  check_output_file("--save", file);
  if (!std::filesystem::is_regular_file(file) || std::filesystem::is_empty(file)) return;
  try {
    Checkpoint::inspect(file);
  } catch (const Error&) {
    throw Error(ErrorKind::failed, "--save: " + file.string() + " is there, and is no saved model: give another file");
  }
}

}  // namespace

SharedExamples prepare_training(TrainConfig& config) {
  if (!config.save.empty()) check_save(config.save);
  if (!config.curves.empty()) check_output_file("--curves", config.curves);
  for (std::string* file :
       {&config.data, &config.test, &config.init}) {  // a resumed run may begin in another directory
    if (std::filesystem::is_regular_file(*file)) *file = std::filesystem::absolute(*file);
  }
  const Examples examples = read_examples(config);
  FoundData found = found_in(examples);
  // In a resumed run, the launcher has set these before.
  if (config.found.inputs != 0 && (config.found.inputs != found.inputs || config.found.classes != found.classes)) {
    throw Error(ErrorKind::failed,
                "--data has " + std::to_string(found.inputs) + " inputs and " + std::to_string(found.classes) +
                    " classes, but the data of the run to resume had " + std::to_string(config.found.inputs) + " and " +
                    std::to_string(config.found.classes) + ": give the same data");
  }
  if (config.found.examples != 0 && config.found.examples != found.examples) {
    throw Error(ErrorKind::failed, "--data has " + std::to_string(found.examples) +
                                       " examples, but the data of the run to resume had " +
                                       std::to_string(config.found.examples) + ": give the same data");
  }
  found.first_steps = first_steps(config);  // a resumed run keeps its own: --save may have replaced the file since
  if (config.test.empty() && examples.data.examples() < 2) {
    throw Error(ErrorKind::failed, config.data +
                                       ": has 1 example, but a fifth of them, at least one, is the test set: " +
                                       "give more examples, or --test");
  }
  if (config.scale && examples.data.is_sparse()) scaling_of(examples.data);  // throws
  SharedExamples shared = share(examples);
  const bool on_host = config.device == "auto" && named_scheme(config.scheme).on_host;
  config.device = on_host ? "cpu" : kernels::chosen_device(config.device);
  config.found = found;
  config.found.path = shared.location.path;
  config.found.key = shared.location.key;
  model_of(config);  // throws if `init` does not fit
  return shared;
}

TrainingData data_of(const TrainConfig& config, std::uint64_t run_seed, HostExamples* host) {
  Examples examples = examples_of(config, host);
  TrainingData out;
  if (config.test.empty()) {
    Split parts = split(examples.data, run_seed);
    out = {.train = std::move(parts.train), .test = std::move(parts.test), .scaling = {}};
  } else {
    out = {.train = std::move(examples.data), .test = std::move(examples.test), .scaling = {}};
  }
  if (const std::optional<KeptModel> first = first_model(config)) {
    if (config.scale && first->scaling.empty()) {
      throw Error(ErrorKind::failed, config.init + ": was trained on features that were not scaled: leave out --scale");
    }
    out.scaling = first->scaling;
  } else if (config.scale) {
    out.scaling = scaling_of(out.train);
  }
  scale(out.scaling, out.train);
  scale(out.scaling, out.test);
  return out;
}

std::vector<Eigen::Index> units_of(const TrainConfig& config) {
  if (config.sparse && config.model != ModelKind::linear) {
    throw Error(ErrorKind::failed, "--sparse goes with --model=linear");
  }
  FoundData found = config.found;
  if (found.inputs == 0) found = found_in(examples_of(config, nullptr));
  std::vector<Eigen::Index> units{found.inputs};
  if (config.model == ModelKind::mlp) units.insert(units.end(), config.hidden.begin(), config.hidden.end());
  units.push_back(found.classes);
  return units;
}

std::unique_ptr<Model> model_of(const TrainConfig& config) {
  const std::vector<Eigen::Index> units = units_of(config);
  std::unique_ptr<Model> model =
      make_model(config.model, units, config.activation, kernels::queue_on(kernels::chosen_device(config.device)));
  std::optional<KeptModel> first = first_model(config);
  if (!first) return model;
  if (first->kind != config.model || first->units != units) {
    throw Error(ErrorKind::failed, config.init + ": is " + to_string(first->kind, first->units) +
                                       ", but this training learns " + to_string(config.model, units) +
                                       ": give the same --model and --hidden");
  }
  if (config.model == ModelKind::mlp && first->activation != config.activation) {
    throw Error(ErrorKind::failed, config.init + ": has a different activation: give --activation=" +
                                       std::string(enum_name(first->activation)));
  }
  return starting_from(std::move(model), std::move(first->parameters));
}

std::function<Judge(std::uint64_t seed)> judge_of(const TrainConfig& config) {
  const auto data = [config, host = std::make_shared<HostExamples>()](std::uint64_t run_seed) {
    return data_of(config, run_seed, host.get()).test;
  };
  TrainConfig on_host = config;  // evaluations run in nodes and launchers that need no GPU
  on_host.device = "cpu";
  return loss_and_accuracy([on_host] { return model_of(on_host); }, data);
}

KeptModel kept_model(const TrainConfig& config, std::uint64_t run_seed, const Parameters& parameters,
                     HostExamples* host) {
  TrainingData data = data_of(config, run_seed, host);
  return {.kind = config.model,
          .units = units_of(config),
          .activation = config.activation,
          .names = std::move(data.train.names),
          .scaling = std::move(data.scaling),
          .steps = parameters.step + first_steps(config),
          .parameters = parameters.values};
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
  kernels::chosen_device(config.device);  // throws if there is no such device
  if (scheme.on_host && config.device == "cuda") {
    throw Error(ErrorKind::failed,
                "the scheme " + config.scheme + " computes its layers on the host: leave out --device=cuda");
  }
  // a failed server then goes back to a cut, not to the beginning
  const bool cuts = config.restarts > 0 && scheme.uses("checkpoint_every");
  const ServerTraining training{
      .workers = config.workers,
      .servers = config.servers,
      .steps = config.steps,
      .batch = config.batch,
      .rule = rule_of(config),
      .checkpoint_every = config.checkpoint_every.value_or(cuts ? ServerTraining().checkpoint_every : 0),
      .restarts = config.restarts,
      .replicated = config.replicated,
      .bad_values = config.bad_values,
      .compression = {.kind = static_cast<Compression>(config.compression), .share = config.share}};
  const LearningTask task{.model = [config] { return model_of(config); },
                          .data = [config, host = std::make_shared<HostExamples>()](
                                      std::uint64_t run_seed) { return data_of(config, run_seed, host.get()).train; },
                          .device = scheme.on_host ? "cpu" : config.device};
  Program program(std::string("train"));
  scheme.add(program, task, training, config);
  add_observers(program, config);
  return program;
}

}  // namespace lp
