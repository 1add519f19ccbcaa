#include "programs/train.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/hash.h"
#include "lp/base/scheduler.h"
#include "lp/base/shared_heap.h"
#include "lp/kernels/chosen_device.h"
#include "nodes/checkpointer.h"
#include "nodes/evaluator.h"
#include "nodes/metrics.h"
#include "nodes/parameters/key_index.h"
#include "nodes/parameters/partition.h"
#include "programs/data/output_files.h"
#include "programs/schemes.h"
#include "programs/training/evaluation.h"

namespace lp {
namespace {

ExamplesLocation location_of(const TrainConfig& config) { return {.path = config.found.path, .key = config.found.key}; }

[[noreturn]] void fail_as_different(const std::string& file) {
  throw Error(ErrorKind::failed, file + ": differs from the file on the host where the program was launched");
}

// The file `init`, which must be what the launcher has found, if it has looked.
Buffer read_the_same_first(const TrainConfig& config) {
  Buffer bytes = read_model_file(config.init);
  if (config.found.first != 0 && config.found.first != bytes_hash(bytes.bytes())) fail_as_different(config.init);
  return bytes;
}

// The model in the file `init`, if given, from shared memory where that is possible.
std::optional<KeptModel> first_model(const TrainConfig& config, HostFiles* host) {
  if (config.init.empty()) return std::nullopt;
  if (const auto shared = shared_first(location_of(config))) return parse_model(*shared, config.init);
  if (host == nullptr || config.found.key.empty()) return parse_model(read_the_same_first(config), config.init);
  // another key than that of the examples, since a node may need only one of both
  const std::size_t half = config.found.key.size() / 2;
  const std::string key = config.found.key.substr(half) + config.found.key.substr(0, half);
  const Examples taken = host->first.take(key, [&config] {
    Examples out;
    out.first = read_the_same_first(config);
    return out;
  });
  return parse_model(taken.first, config.init);
}

// The updates that the model had before this training.
std::uint64_t first_steps(const TrainConfig& config) {
  if (config.found.inputs != 0) return config.found.first_steps;
  const std::optional<KeptModel> first = first_model(config, nullptr);
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

// All examples, as their files have them, with the same classes as `first`.
Examples read_examples(const TrainConfig& config, const std::optional<KeptModel>& first) {
  Examples out;
  out.data = load(config, config.data, first ? first->inputs() : 0);
  if (first) {
    check_inputs(out.data, config.data, first->inputs(), config.init);
    match_classes(out.data, first->names, first->classes(), config.data);
  }
  if (config.test.empty()) return out;
  out.test = load(config, config.test, out.data.inputs());
  check_inputs(out.test, config.test, out.data.inputs(), config.data);
  match_classes(out.test, out.data.names, out.data.classes, config.test);
  return out;
}

void check_scaled(const TrainConfig& config, const KeptModel& first) {
  if (!config.scale) return;
  throw Error(ErrorKind::failed, config.init +
                                     (first.scaling.empty() ? ": was trained on features that were not scaled"
                                                            : ": scales features as in its own training") +
                                     ": leave out --scale");
}

// What decides which training the examples give: they, and how the first model scales them.
std::uint64_t content_of(const Examples& examples, const std::optional<KeptModel>& first) {
  std::uint64_t hash = examples_hash(examples);
  if (!first) return hash;
  for (const Eigen::VectorXf* one : {&first->scaling.mean, &first->scaling.factor}) {
    hash = hash_combine(hash, bytes_hash(std::as_bytes(std::span(one->data(), static_cast<std::size_t>(one->size())))));
  }
  return hash;
}

// The same, which must be what the launcher has found, if it has looked.
Examples read_the_same(const TrainConfig& config, HostFiles* host) {
  const std::optional<KeptModel> first = first_model(config, host);
  Examples out = read_examples(config, first);
  const FoundData& found = config.found;
  if (found.inputs != 0 && (out.data.inputs() != found.inputs || out.data.classes != found.classes)) {
    fail_as_different(config.data);
  }
  if (found.content != 0 && content_of(out, first) != found.content) {
    fail_as_different(config.test.empty() ? config.data : config.data + " or " + config.test);
  }
  return out;
}

// The same, from shared memory where that is possible.
Examples examples_of(const TrainConfig& config, HostFiles* host) {
  if (auto shared = shared_examples(location_of(config))) return *std::move(shared);
  if (host == nullptr || config.found.key.empty()) return read_the_same(config, host);
  return host->examples.take(config.found.key, [&config, host] { return read_the_same(config, host); });
}

FoundData found_in(const Examples& examples) {
  return {.inputs = examples.data.inputs(), .classes = examples.data.classes, .examples = examples.data.examples()};
}

// Throws unless the examples are those of the run to resume, in which the launcher has found `before`.
void check_resumed(const TrainConfig& config, const FoundData& before, const FoundData& found) {
  if (before.inputs != 0 && (before.inputs != found.inputs || before.classes != found.classes)) {
    throw Error(ErrorKind::failed,
                "--data has " + std::to_string(found.inputs) + " inputs and " + std::to_string(found.classes) +
                    " classes, but the data of the run to resume had " + std::to_string(before.inputs) + " and " +
                    std::to_string(before.classes) + ": give the same data");
  }
  if (before.examples != 0 && before.examples != found.examples) {
    throw Error(ErrorKind::failed, "--data has " + std::to_string(found.examples) +
                                       " examples, but the data of the run to resume had " +
                                       std::to_string(before.examples) + ": give the same data");
  }
  if (before.content != 0 && before.content != found.content) {
    std::string files = config.data;
    if (!config.test.empty()) files += ", " + config.test;
    if (!config.init.empty()) files += ", or the scaling in " + config.init;
    throw Error(ErrorKind::failed, "the data have changed since the run to resume began (" + files +
                                       "): give the same data, or start a new run");
  }
}

// The options for snapshots: files of models, each with the parameters of its time.
struct Snapshots {
  TrainConfig config;
  std::shared_ptr<HostFiles> host;

  CheckpointerOptions dereference(Context& node) const {
    const KeptModel untrained = kept_model(config, node.program_seed(), {}, host.get());
    return {.directory = config.snapshots,
            .period = from_seconds(config.snapshot_every),
            .size = [all = config, files = host] { return model_of(all, files.get())->size(); },
            .first_step = untrained.steps,
            .beside = describe(untrained)};
  }
};

// Adds the nodes that observe the training.
void add_observers(Program& program, const TrainConfig& config, const std::shared_ptr<HostFiles>& host) {
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
    program.add<Checkpointer>({.name = "checkpointer", .on_failure = on_failure}, servers, Snapshots{config, host});
  }
}

}  // namespace

namespace {

// Refuses to replace what is no model, such as the data.
void check_save(const std::filesystem::path& file) {
  check_output_file("--save", file);
  if (!std::filesystem::is_regular_file(file) || std::filesystem::is_empty(file)) return;
  if (is_model_file(file)) return;
  throw Error(ErrorKind::failed, "--save: " + file.string() + " is there, and is no saved model: give another file");
}

// Refuses to replace what the training reads. Only the model of --init may be replaced, by the one to which it leads.
void check_files(const TrainConfig& config) {
  std::vector<NamedFile> data;
  for (const auto& [option, name] : {std::pair("--data", config.data), std::pair("--test", config.test)}) {
    const std::size_t comma = name.find(',');  // two IDX files: images,labels
    data.push_back({option, name.substr(0, comma)});
    if (comma != std::string::npos) data.push_back({option, name.substr(comma + 1)});
  }
  const std::vector<NamedFile> outputs{{"--save", config.save}, {"--curves", config.curves}};
  check_outputs(outputs, data);
  check_outputs(std::span(outputs).last(1), std::vector<NamedFile>{{"--init", config.init}});
}

// Throws when features cannot be scaled as the training would.
void check_scaling(const TrainConfig& config, const std::optional<KeptModel>& first, Examples& examples) {
  if (first) check_scaled(config, *first);
  if (examples.data.is_sparse()) {
    if (config.scale) scaling_of(examples.data);
    if (first) scale(first->scaling, examples.data);
    return;
  }
  if (!config.scale) return;
  try {  // about what the training examples among them give
    scaling_of(examples.data);
  } catch (const Error& error) {
    throw Error(ErrorKind::failed, config.data + ": " + error.text());
  }
}

// The default may be larger than a small file.
void check_batch(const TrainConfig& config, const Examples& examples) {
  const Eigen::Index all = examples.data.examples();
  if (config.batch <= all || config.batch == TrainConfig().batch) return;
  throw Error(ErrorKind::failed, "--batch=" + std::to_string(config.batch) + " is more than the " +
                                     std::to_string(all) + " examples of " + config.data + ": give at most as many");
}

// Throws when the servers, or this host, cannot hold the parameters.
void check_size(const TrainConfig& config, const Model& model) {
  if (!named_scheme(config.scheme).uses("servers") || config.servers < 1) return;
  const auto rows = static_cast<std::uint64_t>(model.size() / std::max<Eigen::Index>(model.width(), 1));
  if (rows == 0) return;
  const Partition partition = Partition::ring(rows, static_cast<std::uint32_t>(config.servers));
  for (std::uint32_t server = 0; server < partition.servers(); ++server) {
    static_cast<void>(KeyIndex(partition.ranges(server)));  // throws
  }
  // This host has all of them twice when it puts the servers' parts together, wherever the servers are.
  const std::uint64_t bytes = 2 * static_cast<std::uint64_t>(model.size()) * sizeof(float);
  if (bytes > machine_memory()) {
    throw_failed("the model of " + config.data + " has " + std::to_string(model.size()) + " parameters and needs " +
                 std::to_string(bytes >> 20) + " MiB, more than the " + std::to_string(machine_memory() >> 20) +
                 " MiB of memory of this host: is the largest index of a feature a mistake?");
  }
}

}  // namespace

SharedExamples prepare_training(TrainConfig& config, const std::string& resumed) {
  if (!resumed.empty() && config.replicated) {
    throw Error(ErrorKind::failed,
                "a training with --replicated writes no checkpoints: " + resumed + " cannot be resumed");
  }
  // The launcher of the run to resume has found them; a file for --config has them, too.
  const FoundData before = std::exchange(config.found, {});
  if (!config.save.empty()) check_save(config.save);
  check_files(config);
  if (!config.curves.empty()) check_output_file("--curves", config.curves);
  if (!config.snapshots.empty()) check_output_directory("--snapshots", config.snapshots);
  // A resumed run may begin in another directory. The bundled data are no file, though one may have their name.
  for (std::string* file : {&config.data, &config.test, &config.init}) {
    if (*file != kBundledData && std::filesystem::is_regular_file(*file)) *file = std::filesystem::absolute(*file);
  }
  for (std::string* file : {&config.save, &config.curves, &config.snapshots}) {
    if (!file->empty()) *file = std::filesystem::absolute(*file);
  }
  Buffer first_file;
  std::optional<KeptModel> first;
  if (!config.init.empty()) {
    first_file = read_model_file(config.init);
    first = parse_model(first_file, config.init);
  }
  Examples examples = read_examples(config, first);
  examples.first = first_file;
  FoundData found = found_in(examples);
  found.content = content_of(examples, first);
  found.first = bytes_hash(first_file.bytes());
  if (!resumed.empty()) check_resumed(config, before, found);
  // a resumed run keeps its own: --save may have replaced the file since
  found.first_steps = !resumed.empty() ? before.first_steps : first ? first->steps : 0;
  if (config.test.empty() && examples.data.examples() < 2) {
    throw Error(ErrorKind::failed, config.data +
                                       ": has 1 example, but a fifth of them, at least one, is the test set: " +
                                       "give more examples, or --test");
  }
  check_scaling(config, first, examples);
  check_batch(config, examples);
  SharedExamples shared = share(examples);
  config.device = kernels::chosen_device(config.device);
  config.found = found;
  config.found.path = shared.location.path;
  config.found.key = shared.location.key;
  check_size(config, *model_of(config));  // throws if `init` does not fit
  return shared;
}

TrainingData data_of(const TrainConfig& config, std::uint64_t run_seed, HostFiles* host) {
  Examples examples = examples_of(config, host);
  TrainingData out;
  if (config.test.empty()) {
    Split parts = split(examples.data, run_seed);
    out = {.train = std::move(parts.train), .test = std::move(parts.test), .scaling = {}};
  } else {
    out = {.train = std::move(examples.data), .test = std::move(examples.test), .scaling = {}};
  }
  if (const std::optional<KeptModel> first = first_model(config, host)) {
    check_scaled(config, *first);
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

std::unique_ptr<Model> model_of(const TrainConfig& config, HostFiles* host) {
  const std::vector<Eigen::Index> units = units_of(config);
  std::unique_ptr<Model> model =
      make_model(config.model, units, config.activation, kernels::queue_on(kernels::chosen_device(config.device)));
  std::optional<KeptModel> first = first_model(config, host);
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
  const auto host = std::make_shared<HostFiles>();
  const auto data = [config, host](std::uint64_t run_seed) { return data_of(config, run_seed, host.get()).test; };
  TrainConfig on_host = config;  // evaluations run in nodes and launchers that need no GPU
  on_host.device = "cpu";
  return loss_and_accuracy([on_host, host] { return model_of(on_host, host.get()); }, data);
}

KeptModel kept_model(const TrainConfig& config, std::uint64_t run_seed, const Parameters& parameters, HostFiles* host) {
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
  const auto host = std::make_shared<HostFiles>();
  const LearningTask task{
      .model = [config, host] { return model_of(config, host.get()); },
      .data = [config, host](std::uint64_t run_seed) { return data_of(config, run_seed, host.get()).train; },
      .device = config.device};
  Program program(std::string("train"));
  scheme.add(program, task, training, config);
  add_observers(program, config, host);
  return program;
}

}  // namespace lp
