#include "programs/train.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <optional>

#include "lp/base/error.h"
#include "lp/base/message.h"
#include "lp/base/scheduler.h"
#include "nodes/checkpointer.h"
#include "nodes/evaluator.h"
#include "nodes/metrics.h"
#include "programs/asynchronous.h"
#include "programs/bounded_delay.h"
#include "programs/evaluation.h"
#include "programs/federated.h"
#include "programs/feeding.h"
#include "programs/gossip.h"
#include "programs/hogwild.h"
#include "programs/in_graph.h"
#include "programs/linear.h"
#include "programs/local_sgd.h"
#include "programs/mlp.h"
#include "programs/one_bit.h"
#include "programs/outer_product.h"
#include "programs/partitioned.h"
#include "programs/pipeline.h"
#include "programs/ring.h"
#include "programs/sliced.h"
#include "programs/softsync.h"
#include "programs/stale_synchronous.h"
#include "programs/synchronous.h"
#include "programs/topology.h"
#include "programs/tree_aggregate.h"
#include "programs/work_units.h"

namespace lp {
namespace {

Dataset all_data_of(const TrainConfig& config) {
  return load_data(config.data, config.sparse ? Storage::sparse : Storage::dense);
}

// Of an MLP for these data.
std::vector<Eigen::Index> units_of(const TrainConfig& config, const Dataset& data) {
  std::vector<Eigen::Index> units{data.inputs()};
  if (config.model == ModelKind::mlp) units.insert(units.end(), config.hidden.begin(), config.hidden.end());
  units.push_back(data.classes);
  return units;
}

// The same for schemes that take a model apart.
std::vector<Eigen::Index> layers_of(const TrainConfig& config) {
  if (config.model == ModelKind::linear) {
    throw Error(ErrorKind::failed, "the scheme " + config.scheme + " is for models of layers: give --model=mlp");
  }
  return units_of(config, all_data_of(config));
}

// Whether the test accuracy of these parameters has reached the target.
std::function<bool(const Array<float>& parameters, std::uint64_t seed)> reaches(const TrainConfig& config) {
  return [config](const Array<float>& parameters, std::uint64_t run_seed) {
    const Eigen::Map<const Eigen::VectorXf> values(parameters.data(), static_cast<Eigen::Index>(parameters.size()));
    return evaluate(*model_of(config), values, data_of(config, run_seed).test).accuracy >= config.target;
  };
}

const NamedScheme kSchemes[] = {
    {.name = "synchronous",
     .system = "TensorFlow, synchronous replicas",
     .summary = "every step waits for the gradients of all workers",
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig&) { add_synchronous_training(program, task, training); }},
    {.name = "in_graph",
     .system = "TensorFlow, in-graph replicas",
     .summary = "the same, but one client issues every step, and replicas compute for it",
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig&) { add_in_graph_training(program, task, training); }},
    {.name = "feeding",
     .system = "TensorFlowOnSpark",
     .summary = "synchronous; feeders have the data and push batches into the workers",
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig&) { add_fed_training(program, task, training, synchronous_scheme(training)); }},
    {.name = "backup",
     .system = "TensorFlow, backup workers",
     .summary = "a step takes the first gradients and drops those of the slowest --backups workers",
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig& config) { add_synchronous_training(program, task, training, config.backups); }},
    {.name = "work_units",
     .system = "DistBelief Sandblaster",
     .summary = "a coordinator hands out --work-units of a batch, and backup copies of those that are not back",
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig& config) { add_work_unit_training(program, task, training, config.work_units); }},
    {.name = "asynchronous",
     .system = "DistBelief Downpour; TensorFlow, asynchronous",
     .summary = "a gradient is applied when it comes; --fetch-every, --push-every",
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_asynchronous_training(
               program, task, training,
               {.fetch_every = config.fetch_every, .push_every = config.push_every, .local_rate = config.rate});
         }},
    {.name = "outer_product",
     .system = "Project Adam",
     .summary = "asynchronous; workers of an mlp send activations and errors; an epoch ends after --epoch-share of it",
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_outer_product_training(program, task, training,
                                      {.units = layers_of(config), .epoch_share = config.epoch_share});
         }},
    {.name = "bounded_delay",
     .system = "Parameter Server (Li et al.)",
     .summary = "a step waits for all steps that are older than --delay",
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig& config) { add_bounded_delay_training(program, task, training, config.delay); }},
    {.name = "stale_synchronous",
     .system = "Petuum",
     .summary = "the fastest worker is at most --staleness steps ahead; reads come from a cache of rows",
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_stale_synchronous_training(program, task, training, config.staleness);
         }},
    {.name = "softsync",
     .system = "Rudra, n-softsync",
     .summary = "an update takes workers / --splits gradients, each divided by its staleness",
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig& config) { add_softsync_training(program, task, training, config.splits); }},
    {.name = "tree",
     .system = "Rudra, hierarchical",
     .summary = "softsync over --leaves servers that sum their workers' gradients",
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_softsync_training(program, task, training, config.splits, config.leaves);
         }},
    {.name = "partitioned",
     .system = "BytePS",
     .summary = "servers sum partitions of gradients, the most urgent first; workers update",
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_partitioned_training(program, task, training,
                                    {.bytes = config.partition_bytes, .credit = config.credit_bytes});
         },
     .servers_sum = true},
    {.name = "sliced",
     .system = "BigDL, CaffeOnSpark",
     .summary = "each worker sums and updates a slice of the parameters for all",
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig&) { add_sliced_training(program, task, training); }},
    {.name = "one_bit",
     .system = "CNTK 1-bit SGD",
     .summary = "synchronous, one bit a value, with error feedback",
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig&) { add_one_bit_training(program, task, training); }},
    {.name = "ring",
     .system = "Horovod",
     .summary = "no servers: a ring allreduce sums the gradients; workers that fail are done without",
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_ring_training(program, task, training,
                             {.allreduce = Allreduce::ring, .fusion_bytes = config.fusion_bytes});
         }},
    {.name = "local_sgd",
     .system = "SparkNet; Multiverso, model averaging",
     .summary = "each worker trains its own model; every --average-every steps all take the mean",
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig& config) { add_local_sgd_training(program, task, training, config.average_every); }},
    {.name = "bmuf",
     .system = "CNTK BMUF",
     .summary = "local SGD whose mean is a step with momentum; --average-every, --block-momentum",
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_bmuf_training(program, task, training, config.average_every, {.momentum = config.block_momentum});
         }},
    {.name = "tree_aggregate",
     .system = "Spark MLlib, treeAggregate",
     .summary = "synchronous; gradients are summed over a tree of --depth levels",
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig& config) { add_tree_aggregate_training(program, task, training, config.depth); }},
    {.name = "hogwild",
     .system = "Hogwild",
     .summary = "workers of one host change one vector in its memory without locks",
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig&) { add_hogwild_training(program, task, training); }},
    {.name = "pipeline",
     .system = "GPipe; DistBelief, model parallel",
     .summary = "the layers of an mlp on --stages nodes, with --micro-batches of a batch in flight",
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_pipeline_training(
               program, task, training,
               {.units = layers_of(config), .stages = config.stages, .micro_batches = config.micro_batches});
         }},
    {.name = "topology",
     .system = "SINGA",
     .summary =
         "--worker-groups decide: one is synchronous, one for each worker Downpour, with --shared-memory Hogwild",
     .add =
         [](Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config) {
           add_topology_training(program, task, training,
                                 {.worker_groups = config.worker_groups, .shared_memory = config.shared_memory});
         }},
    {.name = "federated",
     .system = "Federated averaging (McMahan et al.)",
     .summary = "clients with examples of their own train for --epochs, a --fraction of them in each round",
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
     .summary =
         "each worker trains its own model, and sends it with --probability to a random other, who takes the mean",
     .add = [](Program& program, const LearningTask& task, const ServerTraining& training,
               const TrainConfig& config) { add_gossip_training(program, task, training, config.probability); }},
};

// The nodes that look on while others train.
void add_observers(Program& program, const NamedScheme& scheme, const TrainConfig& config) {
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
  if (found == groups.end() || scheme.servers_sum) {
    throw Error(ErrorKind::failed, "with the scheme " + std::string(scheme.name) +
                                       " no server has the parameters that are learned: leave --evaluate-every and "
                                       "--snapshots out");
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

Split data_of(const TrainConfig& config, std::uint64_t run_seed) { return split(all_data_of(config), run_seed); }

std::unique_ptr<Model> model_of(const TrainConfig& config) {
  const Dataset data = all_data_of(config);
  if (config.model == ModelKind::linear) return std::make_unique<LinearModel>(data.inputs(), data.classes);
  if (config.sparse) throw Error(ErrorKind::failed, "--sparse goes with --model=linear");
  return std::make_unique<Mlp>(units_of(config, data), Activation::tanh);
}

OptimizerRule rule_of(const TrainConfig& config) {
  switch (config.rule) {
    case RuleKind::sgd: break;
    case RuleKind::momentum: return Momentum{.rate = config.rate, .decay = config.momentum};
    case RuleKind::adagrad: return AdaGrad{.rate = config.rate};
    case RuleKind::adam: return Adam{.rate = config.rate};
    case RuleKind::ftrl: return Ftrl{.rate = config.rate};
  }
  return Sgd{.rate = config.rate};
}

Program make_training(const TrainConfig& config) {
  const ServerTraining training{.workers = config.workers,
                                .servers = config.servers,
                                .steps = config.steps,
                                .batch = config.batch,
                                .rule = rule_of(config),
                                .cut_every = config.cut_every,
                                .restarts = config.restarts,
                                .replicated = config.replicated,
                                .bad_values = config.bad_values,
                                .compression = {.kind = config.compression, .share = config.share}};
  const LearningTask task{.model = [config] { return model_of(config); },
                          .data = [config](std::uint64_t run_seed) { return data_of(config, run_seed).train; }};
  Program program(std::string("train"));
  const NamedScheme& scheme = named_scheme(config.scheme);
  scheme.add(program, task, training, config);
  add_observers(program, scheme, config);
  return program;
}

}  // namespace lp
