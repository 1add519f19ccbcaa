#pragma once
// A training program whose scheme is chosen by name: the program of examples/train. Values; pure functions.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "lp/config/config.h"
#include "lp/program/program.h"
#include "nodes/evaluator.h"
#include "programs/data/data.h"
#include "programs/data/host_examples.h"
#include "programs/data/shared_examples.h"
#include "programs/models/kept_model.h"
#include "programs/models/model.h"
#include "programs/models/serial.h"
#include "programs/training/training.h"

namespace lp {

enum class RuleKind : std::uint8_t { sgd, momentum, adagrad, adam, ftrl };
// The kinds of Compression that work with any gradient.
enum class GradientCompression : std::uint8_t { none, one_bit, top_k, random_k, significant, dither };

// The launcher's findings in the data files, so that no node has to read the files for them.
struct FoundData {
  std::int64_t inputs = 0;  // 0: the launcher has not looked
  int classes = 0;
  std::string path{};  // path and key of an ExamplesLocation
  std::string key{};

  static constexpr auto fields =
      lp::fields(field("inputs", "set by the launcher", non_negative), field("classes", "set by the launcher"),
                 field("path", "set by the launcher"), field("key", "set by the launcher"));
};

struct TrainConfig {
  std::string scheme = "synchronous";
  ModelKind model = ModelKind::mlp;
  std::vector<int> hidden = {64};
  Activation activation = Activation::tanh;
  std::string init{};
  std::string save{};
  std::string data = "digits";
  std::string test{};
  bool sparse = false;
  bool scale = false;
  int workers = 4;
  int servers = 2;
  std::uint64_t steps = 500;
  std::uint32_t batch = 64;
  RuleKind rule = RuleKind::sgd;
  std::optional<float> rate{};
  float momentum = 0.9F;
  std::optional<std::uint64_t> checkpoint_every{};
  int restarts = 0;
  bool replicated = false;
  BadValues bad_values = BadValues::refuse;
  GradientCompression compression = GradientCompression::none;
  double share = 0.1;
  std::uint32_t backups = 1;
  std::uint64_t delay = 2;
  std::uint64_t staleness = 2;
  std::uint32_t splits = 1;
  std::uint64_t fetch_every = 1;
  std::uint64_t push_every = 1;
  int leaves = 2;
  std::uint64_t partition_bytes = std::uint64_t{4} << 20;
  std::uint64_t credit_bytes = std::uint64_t{16} << 20;
  std::uint64_t fusion_bytes = std::uint64_t{128} << 20;
  std::uint64_t average_every = 50;
  float block_momentum = -1;
  double fraction = 0.5;
  std::uint64_t epochs = 1;
  std::uint32_t label_shards = 0;
  double evaluate_every = 0;
  double target = 0;
  std::string curves{};
  std::string snapshots{};
  double snapshot_every = 60;
  double patience = 60;
  double probability = 0.1;
  int depth = 2;
  int stages = 2;
  std::uint32_t micro_batches = 4;
  std::uint32_t work_units = 16;
  double epoch_share = 0.75;
  int worker_groups = 2;
  bool shared_memory = false;
  FoundData found{};

  // The sections for the given scheme, if one is given; else for all schemes.
  std::vector<HelpSection> help_sections(std::span<const std::string> given) const;
  void check_given(std::span<const std::string> given) const;

  static constexpr auto fields = lp::fields(
      field("scheme", "how the workers train together; --list names them"),
      field("model", "what is learned; linear is logistic or softmax regression"),
      field("hidden", "mlp: units of each hidden layer", at_least(1)),
      field("activation", "mlp: what hidden units make of their sums"),
      field("init", "a model that was kept with --save: the training goes on from it"),
      field("save", "a file for the model, which --evaluate=FILE and --predict=FILE use, without a training",
            changeable),
      field("data", "digits, a file in libsvm's format or CSV, or two IDX files: images,labels"),
      field("test", "examples to test on, as data; not given: a fifth of the data", changeable),
      field("scale", "features are brought to mean 0 and variance 1, as they are in what is trained on"),
      field("sparse",
            "linear: the data is kept sparse; where the scheme has rows, only those that occur are exchanged"),
      field("workers", "nodes that compute gradients", range(1, 1024)),
      field("servers", "nodes that hold a part of the parameters each", range(1, 1024)),
      field("steps", "batches to train on, over all workers; federated: rounds", changeable),
      field("batch", "examples of a batch; federated: of a client's", at_least(1)),
      field("rule", "what a gradient does to the parameters"),
      field("rate", "learning rate; not given: 0.1 for sgd, 0.02 momentum, 0.03 adagrad, 0.003 adam, 0.3 ftrl",
            positive, changeable),
      field("momentum", "rule momentum: its decay", range(0, 1)),
      field("checkpoint_every",
            "updates, or steps of a worker that trains on its own, from one checkpoint to the next; 0: none but at the "
            "end; not given: 50 with restarts, else 0",
            changeable),
      field("restarts", "how often a node that fails is started again, before the program stops", non_negative,
            changeable),
      field("replicated", "a server that fails is replaced by its replica, instead of being started again"),
      field("bad_values",
            "what happens to gradients with NaN or infinite values; clip: they alone are brought within -1 and 1",
            changeable),
      field("compression", "of the gradients"),
      field("share", "top_k and random_k: of the values that are sent", range(0, 1)),
      field("backups", "backup: workers whose gradients a step does not wait for"),
      field("delay", "bounded_delay: steps that may be missing in what a worker reads"),
      field("staleness", "stale_synchronous: steps that the fastest worker may be ahead of the slowest"),
      field("splits", "softsync: an update takes workers / splits gradients", at_least(1)),
      field("fetch_every", "asynchronous: steps from one fetch of the parameters to the next", at_least(1)),
      field("push_every", "asynchronous: steps from one push of gradients to the next", at_least(1)),
      field("leaves", "tree: leaf servers between the workers and the servers", at_least(1)),
      field("partition_bytes", "partitioned: bytes of a partition", at_least(4)),
      field("credit_bytes", "partitioned: bytes that are on their way at a time"),
      field("fusion_bytes", "ring: bytes of an allreduce", at_least(4)),
      field("average_every", "local_sgd, bmuf: steps of a worker from one mean of the models to the next", at_least(1)),
      field("block_momentum", "bmuf: momentum of the blocks; negative: 1 - 1 / workers", range(-1, 1)),
      field("fraction", "federated: of the clients, the workers, how many a round selects", range(0, 1)),
      field("epochs", "federated: of a client's examples, in a round", at_least(1)),
      field("label_shards", "federated: shards of examples of one label that a client has; 0: random examples"),
      field("evaluate_every", "seconds from one look at the test accuracy to the next; 0: only at the end",
            non_negative, changeable),
      field("target", "the training ends when a look, or a federated round, finds this test accuracy; 0: never",
            range(0, 1), changeable),
      field("curves", "a file for what the looks have found over time, as CSV", changeable),
      field("snapshots",
            "a directory for files with the model, as --save writes them, made while it is learned, the newest 5",
            changeable),
      field("snapshot_every", "seconds from one of them to the next", positive, changeable),
      field("patience", "federated: seconds that a round waits for a client", positive, changeable),
      field("probability", "gossip: that a worker sends its model to another after a step", range(0, 1)),
      field("depth", "tree_aggregate: levels of sums, from the workers to the servers", at_least(1)),
      field("stages", "pipeline: nodes that the layers are placed on", at_least(1)),
      field("micro_batches", "pipeline: into how many a batch is cut", at_least(1)),
      field("work_units", "work_units: into how many a batch is cut", at_least(1)),
      field("epoch_share", "outer_product: of an epoch's batches, when it ends", range(0, 1)),
      field("worker_groups", "topology: workers of a group do every step together", at_least(1)),
      field("shared_memory", "topology: groups, of one worker each, share the parameters in memory"));
};

// The program, with its groups "server" and "worker"; with looks also "evaluator" and "metrics", with snapshots
// "checkpointer". Error::failed when an option does not fit.
Program make_training(const TrainConfig& config);

// Reads the data files for all nodes. The nodes on this host take the examples from the returned memory, which must
// outlive the run; on each other host one node reads the files there, for all nodes of that host. The launcher calls it
// before the program is made; without it, every node reads the files. Error::failed when something is wrong with the
// files, or with `init` or `save`.
SharedExamples prepare_training(TrainConfig& config);

// The examples for training and for testing, with features as the model takes them. The test examples are those of
// `test`, or a fifth of the data, which the seed chooses.
struct TrainingData {
  Dataset train{};
  Dataset test{};
  Scaling scaling{};
};
// `host` shares the examples with the other nodes of a host that does not see the launcher's; null: it is the
// launcher's host.
TrainingData data_of(const TrainConfig& config, std::uint64_t run_seed, HostExamples* host = nullptr);

// The model for the data, which starts from the model in `init`, if given, and its units: {inputs, hidden..., classes}.
std::unique_ptr<Model> model_of(const TrainConfig& config);
std::vector<Eigen::Index> units_of(const TrainConfig& config);

// Computes loss and accuracy on the test set.
std::function<Judge(std::uint64_t seed)> judge_of(const TrainConfig& config);

// The model to save from a training that has ended with these parameters.
KeptModel kept_model(const TrainConfig& config, std::uint64_t run_seed, const Parameters& parameters,
                     HostExamples* host = nullptr);

// The rule, and its learning rate. Each rule learns the digits with its default rate.
OptimizerRule rule_of(const TrainConfig& config);
float rate_of(const TrainConfig& config);

}  // namespace lp
