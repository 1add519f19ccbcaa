#include "programs/schemes.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"
#include "lp/config/bind.h"
#include "programs/schemes/asynchronous.h"
#include "programs/schemes/bounded_delay.h"
#include "programs/schemes/federated.h"
#include "programs/schemes/feeding.h"
#include "programs/schemes/gossip.h"
#include "programs/schemes/hogwild.h"
#include "programs/schemes/in_graph.h"
#include "programs/schemes/local_sgd.h"
#include "programs/schemes/one_bit.h"
#include "programs/schemes/outer_product.h"
#include "programs/schemes/partitioned.h"
#include "programs/schemes/pipeline.h"
#include "programs/schemes/ring.h"
#include "programs/schemes/sliced.h"
#include "programs/schemes/softsync.h"
#include "programs/schemes/stale_synchronous.h"
#include "programs/schemes/topology.h"
#include "programs/schemes/tree_aggregate.h"
#include "programs/schemes/work_units.h"
#include "programs/training/synchronous.h"

namespace lp {
namespace {

constexpr unsigned kAtServers = kWorkers | kServers | kReplicas | kCuts | kCompression | kLooks | kDevice;
constexpr unsigned kInWorkers = kWorkers | kCuts | kDevice;

// The units of the model's layers, for schemes that split the model into layers.
std::vector<Eigen::Index> layers_of(const TrainConfig& config) {
  if (config.model == ModelKind::linear) {
    throw Error(ErrorKind::failed, "the scheme " + config.scheme + " is for models of layers: give --model=mlp");
  }
  return units_of(config);
}

// Returns whether the test accuracy of parameters has reached the target. The test set is read once.
std::function<Reached(std::uint64_t seed)> reaches(const TrainConfig& config) {
  return [config](std::uint64_t run_seed) {
    return [judge = judge_of(config)(run_seed), target = config.target](const Array<float>& parameters) {
      const Eigen::Map<const Eigen::VectorXf> values(parameters.data(), static_cast<Eigen::Index>(parameters.size()));
      return judge.values(values).back().second >= target;
    };
  };
}

const NamedScheme kSchemes[] = {
    {.name = "synchronous",
     .system = "TensorFlow, synchronous replicas",
     .summary = "every step waits for the gradients of all workers",
     .parts = kAtServers,
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig&) { add_synchronous_training(program, task, training); }},
    {.name = "in_graph",
     .system = "TensorFlow, in-graph replicas",
     .summary = "like synchronous, but one client starts every step, and replicas compute for it",
     .parts = kAtServers,
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig&) { add_in_graph_training(program, task, training); }},
    {.name = "feeding",
     .system = "TensorFlowOnSpark",
     .summary = "synchronous; feeders read the data and send batches to the workers",
     .parts = kAtServers,
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig&) { add_fed_training(program, task, training, synchronous_scheme(training)); }},
    {.name = "backup",
     .system = "TensorFlow, backup workers",
     .summary = "a step takes the first gradients and drops those of the slowest --backups workers",
     .parts = kAtServers,
     .own = {"backups"},
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig& config) { add_synchronous_training(program, task, training, config.backups); }},
    {.name = "work_units",
     .system = "DistBelief Sandblaster",
     .summary = "a coordinator assigns --work-units of a batch, and later copies of units that are not done",
     .parts = kAtServers,
     .own = {"work_units"},
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig& config) { add_work_unit_training(program, task, training, config.work_units); }},
    {.name = "asynchronous",
     .system = "DistBelief Downpour; TensorFlow, asynchronous",
     .summary = "each gradient is applied as soon as it arrives; --fetch-every, --push-every",
     .parts = kAtServers,
     .own = {"fetch_every", "push_every"},
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_asynchronous_training(
               program, task, training,
               {.fetch_every = config.fetch_every, .push_every = config.push_every, .local_rate = rate_of(config)});
         }},
    {.name = "outer_product",
     .system = "Project Adam",
     .summary = "asynchronous; workers of an mlp send activations and errors; an epoch ends after --epoch-share of it",
     .parts = kAtServers & ~kCompression & ~kDevice,
     .own = {"epoch_share"},
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_outer_product_training(
               program, task, training,
               {.units = layers_of(config), .activation = config.activation, .epoch_share = config.epoch_share});
         }},
    {.name = "bounded_delay",
     .system = "Parameter Server (Li et al.)",
     .summary = "a step waits for all steps that are older than --delay",
     .parts = kAtServers,
     .own = {"delay"},
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig& config) { add_bounded_delay_training(program, task, training, config.delay); }},
    {.name = "stale_synchronous",
     .system = "Petuum",
     .summary = "the fastest worker is at most --staleness steps ahead; reads come from a cache of rows",
     .parts = kAtServers & ~kCompression,
     .own = {"staleness"},
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_stale_synchronous_training(program, task, training, config.staleness);
         }},
    {.name = "softsync",
     .system = "Rudra, n-softsync",
     .summary = "an update takes workers / --splits gradients, each divided by its staleness",
     .parts = kAtServers,
     .own = {"splits"},
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig& config) { add_softsync_training(program, task, training, config.splits); }},
    {.name = "tree",
     .system = "Rudra, hierarchical",
     .summary = "softsync over --leaves servers that sum their workers' gradients",
     .parts = kAtServers & ~kReplicas,
     .own = {"splits", "leaves"},
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_softsync_training(program, task, training, config.splits, config.leaves);
         }},
    {.name = "partitioned",
     .system = "BytePS",
     .summary = "servers sum partitions of gradients, the most urgent first; workers update the parameters",
     .parts = kAtServers & ~kLooks,
     .own = {"partition_bytes", "credit_bytes"},
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_partitioned_training(program, task, training,
                                    {.bytes = config.partition_bytes, .credit = config.credit_bytes});
         }},
    {.name = "sliced",
     .system = "BigDL, CaffeOnSpark",
     .summary = "each worker sums and updates a slice of the parameters for all",
     .parts = kAtServers & ~kServers,
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig&) { add_sliced_training(program, task, training); }},
    {.name = "one_bit",
     .system = "CNTK 1-bit SGD",
     .summary = "synchronous, one bit for each value, with error feedback",
     .parts = kAtServers & ~kCompression,
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig&) { add_one_bit_training(program, task, training); }},
    {.name = "ring",
     .system = "Horovod",
     .summary = "no servers: a ring allreduce sums the gradients; the training continues without workers that fail",
     .parts = kInWorkers,
     .own = {"fusion_bytes"},
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_ring_training(program, task, training,
                             {.allreduce = Allreduce::ring, .fusion_bytes = config.fusion_bytes});
         }},
    {.name = "local_sgd",
     .system = "SparkNet; Multiverso, model averaging",
     .summary = "each worker trains its own model; every --average-every steps, all take the mean of the models",
     .parts = kInWorkers,
     .own = {"average_every"},
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig& config) { add_local_sgd_training(program, task, training, config.average_every); }},
    {.name = "bmuf",
     .system = "CNTK BMUF",
     .summary = "local SGD whose mean is a step with momentum; --average-every, --block-momentum",
     .parts = kInWorkers,
     .own = {"average_every", "block_momentum"},
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_bmuf_training(program, task, training, config.average_every, {.momentum = config.block_momentum});
         }},
    {.name = "tree_aggregate",
     .system = "Spark MLlib, treeAggregate",
     .summary = "synchronous; gradients are summed over a tree of --depth levels",
     .parts = kAtServers,
     .own = {"depth"},
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig& config) { add_tree_aggregate_training(program, task, training, config.depth); }},
    {.name = "hogwild",
     .system = "Hogwild",
     .summary = "workers of one host change one vector in its memory without locks",
     .parts = kInWorkers,
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig&) { add_hogwild_training(program, task, training); }},
    {.name = "pipeline",
     .system = "GPipe; DistBelief, model parallel",
     .summary = "the layers of an mlp are split over --stages nodes, with --micro-batches of a batch in flight",
     .parts = kCuts,
     .own = {"stages", "micro_batches"},
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_pipeline_training(program, task, training,
                                 {.units = layers_of(config),
                                  .activation = config.activation,
                                  .stages = config.stages,
                                  .micro_batches = config.micro_batches});
         }},
    {.name = "topology",
     .system = "SINGA",
     .summary = "--worker-groups decides: one group is synchronous; one for each worker is Downpour, or Hogwild with "
                "--shared-memory",
     .parts = kAtServers,
     .own = {"worker_groups", "shared_memory"},
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_topology_training(program, task, training,
                                 {.worker_groups = config.worker_groups, .shared_memory = config.shared_memory});
         }},
    {.name = "federated",
     .system = "Federated averaging (McMahan et al.)",
     .summary = "in each round, a --fraction of the clients trains for --epochs on its own examples",
     .parts = kInWorkers,
     .own = {"fraction", "epochs", "label_shards", "patience", "target"},
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_federated_training(program, task, training,
                                  {.share = config.fraction,
                                   .epochs = config.epochs,
                                   .label_shards = config.label_shards,
                                   .patience = from_seconds(config.patience),
                                   .reached = config.target > 0 ? reaches(config) : nullptr});
         }},
    {.name = "gossip",
     .system = "GoSGD",
     .summary = "each worker trains its own model; with --probability it sends it to a random other worker, which "
                "takes the mean",
     .parts = kInWorkers,
     .own = {"probability"},
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig& config) { add_gossip_training(program, task, training, config.probability); }},
};

// A field that applies only with some value of another.
struct Need {
  std::string_view field;
  std::string_view text;
  bool (*met)(const TrainConfig& config);
};
constexpr Need kNeeds[] = {
    {"hidden", "--model=mlp", [](const TrainConfig& one) { return one.model == ModelKind::mlp; }},
    {"activation", "--model=mlp", [](const TrainConfig& one) { return one.model == ModelKind::mlp; }},
    {"momentum", "--rule=momentum", [](const TrainConfig& one) { return one.rule == RuleKind::momentum; }},
    {"share", "--compression=top_k or random_k",
     [](const TrainConfig& one) {
       return one.compression == GradientCompression::top_k || one.compression == GradientCompression::random_k;
     }},
    {"snapshot_every", "--snapshots=DIRECTORY", [](const TrainConfig& one) { return !one.snapshots.empty(); }},
    {"checkpoint_every", "servers that are not replicated", [](const TrainConfig& one) { return !one.replicated; }},
};

[[noreturn]] void refuse(const BoundField& field, const NamedScheme& scheme) {
  std::vector<std::string_view> names;
  for (const NamedScheme& one : kSchemes) {
    if (one.uses(field.path)) names.push_back(one.name);
  }
  const auto sections = flag_sections();
  const bool looks = std::any_of(sections.begin(), sections.end(), [&](const FlagSection& one) {
    return one.part == kLooks && std::find(one.fields.begin(), one.fields.end(), field.path) != one.fields.end();
  });
  throw Error(ErrorKind::failed, field.flag() + " has no effect with the scheme " + std::string(scheme.name) +
                                     (looks ? ", in which no server holds the parameters" : "") + ": it is only for " +
                                     join(names, ", "));
}

}  // namespace

std::span<const FlagSection> flag_sections() {
  static const std::vector<FlagSection> sections{
      {.title = "the model and its data",
       .fields = {"model", "hidden", "activation", "init", "save", "data", "test", "scale", "sparse"}},
      {.title = "the training",
       .fields = {"scheme", "steps", "batch", "rule", "rate", "momentum", "bad_values", "restarts"}},
      {.title = "where it computes", .part = kDevice, .fields = {"device"}},
      {.title = "workers", .part = kWorkers, .fields = {"workers"}},
      {.title = "parameter servers", .part = kServers, .fields = {"servers"}},
      {.title = "checkpoints", .part = kCuts, .fields = {"checkpoint_every"}},
      {.title = "failed servers", .part = kReplicas, .fields = {"replicated"}},
      {.title = "compression of gradients", .part = kCompression, .fields = {"compression", "share"}},
      {.title = "evaluations during the training",
       .part = kLooks,
       .fields = {"evaluate_every", "target", "curves", "snapshots", "snapshot_every"}},
  };
  return sections;
}

std::span<const NamedScheme> named_schemes() { return kSchemes; }

const NamedScheme& named_scheme(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kSchemes), std::end(kSchemes),
                                         [&](const NamedScheme& one) { return same_name(one.name, name); });
  if (found != std::end(kSchemes)) return *found;
  std::vector<std::string> names;
  for (const NamedScheme& one : kSchemes) names.emplace_back(one.name);
  throw Error(ErrorKind::failed,
              "there is no scheme " + quote(name) + did_you_mean(name, names) + ". There are " + join(names, ", "));
}

std::string list_of_schemes() {
  std::string out;
  for (const NamedScheme& one : kSchemes) {
    out += std::string(one.name) + std::string(20 - std::min<std::size_t>(one.name.size(), 19), ' ') +
           std::string(one.summary) + " (" + std::string(one.system) + ")\n";
  }
  return out;
}

bool NamedScheme::owns(std::string_view field) const { return std::find(own.begin(), own.end(), field) != own.end(); }

bool NamedScheme::uses(std::string_view field) const {
  if (owns(field)) return true;
  const auto sections = flag_sections();
  return std::any_of(sections.begin(), sections.end(), [&](const FlagSection& one) {
    return (one.part & parts) == one.part && std::find(one.fields.begin(), one.fields.end(), field) != one.fields.end();
  });
}

std::vector<HelpSection> TrainConfig::help_sections(std::span<const std::string> given) const {
  const bool one = std::find(given.begin(), given.end(), "scheme") != given.end();
  const NamedScheme& chosen = named_scheme(scheme);
  std::vector<HelpSection> out;
  std::vector<std::string> shown;
  for (const FlagSection& section : flag_sections()) {
    if (one && (section.part & chosen.parts) != section.part) continue;
    out.push_back({std::string(section.title), {section.fields.begin(), section.fields.end()}});
    shown.insert(shown.end(), section.fields.begin(), section.fields.end());
  }
  HelpSection own{one ? "the scheme " + std::string(chosen.name)
                      : "single schemes; --scheme=NAME --help shows those of one scheme"};
  for (const NamedScheme& other : kSchemes) {
    if (one && other.name != chosen.name) continue;
    for (const std::string_view field : other.own) {
      if (field.empty() || std::find(shown.begin(), shown.end(), field) != shown.end()) continue;
      own.fields.emplace_back(field);
      shown.emplace_back(field);
    }
  }
  if (!own.fields.empty()) out.push_back(std::move(own));
  return out;
}

void TrainConfig::check_given(std::span<const std::string> given) const {
  for (const auto& [path, value] :
       {std::pair("init", &init), {"save", &save}, {"test", &test}, {"curves", &curves}, {"snapshots", &snapshots}}) {
    if (!value->empty() || std::find(given.begin(), given.end(), path) == given.end()) continue;
    throw_failed("--" + std::string(path) + "= names no file: give one, or leave the flag out");
  }
  check_flags(*this, named_scheme(scheme), given);
}

void check_flags(const TrainConfig& config, const NamedScheme& scheme, std::span<const std::string> given) {
  for (const std::string& path : given) {
    if (path.starts_with("found.")) throw_failed("--" + path + " is set by the launcher: leave it out");
  }
  TrainConfig values = config;
  TrainConfig defaults;
  const Binding fields = bind(values);
  const Binding unset = bind(defaults);
  for (std::size_t i = 0; i < fields.fields().size(); ++i) {
    const BoundField& field = fields.fields()[i];
    const bool is_default = field.type->print(field.value) == unset.fields()[i].type->print(unset.fields()[i].value);
    if (is_default && std::find(given.begin(), given.end(), field.path) == given.end()) continue;
    if (field.path.starts_with("found.")) continue;  // set by the launcher
    if (!scheme.uses(field.path)) refuse(field, scheme);
    for (const Need& need : kNeeds) {
      if (need.field == field.path && !need.met(config)) {
        throw Error(ErrorKind::failed, field.flag() + " has an effect only with " + std::string(need.text));
      }
    }
    if (config.shared_memory && !named_scheme("hogwild").uses(field.path) && !scheme.owns(field.path)) {
      throw Error(ErrorKind::failed,
                  field.flag() + " has no effect with --shared-memory: no server holds the parameters");
    }
  }
}

}  // namespace lp
