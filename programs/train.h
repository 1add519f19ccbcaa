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
  std::int64_t examples = 0;      // in --data
  std::uint64_t first_steps = 0;  // updates of the model that --init names
  std::uint64_t content = 0;      // hash of the examples and of their scaling in that model; 0: unknown
  std::uint64_t first = 0;        // hash of that model's file

  static constexpr auto fields =
      lp::fields(field("inputs", "set by the launcher", non_negative), field("classes", "set by the launcher"),
                 field("path", "set by the launcher"), field("key", "set by the launcher"),
                 field("examples", "set by the launcher"), field("first_steps", "set by the launcher"),
                 field("content", "set by the launcher"), field("first", "set by the launcher"));
};

struct TrainConfig {
  std::string scheme = "synchronous";
  ModelKind model = ModelKind::mlp;
  std::vector<int> hidden = {64};
  Activation activation = Activation::tanh;
  std::string device = "cpu";
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
      field("model", "the model; linear is logistic or softmax regression"),
      field("hidden", "mlp: units of each hidden layer", at_least(1)),
      field("activation", "mlp: activation function of hidden units"),
      field("device", "where workers compute losses and gradients: cpu, cuda or auto", changeable),
      field("init", "start the training from this model, saved with --save"),
      field("save", "save the model into this file; --evaluate=FILE and --predict=FILE use it later", changeable),
      field("data", "digits, a file in libsvm format or CSV, or two IDX files: images,labels"),
      field("test", "examples to test on, in the formats of --data; without it, a fifth of the data"),
      field("scale", "scale features so that the training examples have mean 0 and variance 1"),
      field("sparse", "linear: keep the data sparse; schemes that know rows exchange only the rows that occur"),
      field("workers", "nodes that compute gradients", range(1, 1024)),
      field("servers", "nodes that hold a part of the parameters each", range(1, 1024)),
      field("steps", "batches to train on, all workers together; federated: rounds", changeable),
      field("batch", "examples in a batch; federated: in a batch of a client", at_least(1)),
      field("rule", "how a gradient changes the parameters"),
      field("rate", "learning rate; without it, 0.1 for sgd, 0.02 momentum, 0.03 adagrad, 0.003 adam, 0.3 ftrl",
            positive, changeable),
      field("momentum", "rule momentum: decay of the momentum", range(0, 1)),
      field("checkpoint_every",
            "updates (steps of a worker that trains its own model) from one checkpoint to the next; 0: only one at the "
            "end; without it, 50 with restarts, else 0",
            changeable),
      field("restarts", "how often a failed node is restarted before the program stops", non_negative, changeable),
      field("replicated",
            "a failed server is replaced by its replica, the next server, instead of being restarted; the failure of "
            "both "
            "ends the training"),
      field("bad_values",
            "what happens to gradients with NaN or infinite values; clip: these values are brought between -1 and 1",
            changeable),
      field("compression", "how gradients are compressed"),
      field("share", "top_k and random_k: the share of the values that is sent",
            Range{.low = 0, .high = 1, .above_low = true}),
      field("backups", "backup: the number of slowest workers for which a step does not wait"),
      field("delay", "bounded_delay: the number of steps that a worker's parameters may lack"),
      field("staleness", "stale_synchronous: how many steps the fastest worker may be ahead of the slowest"),
      field("splits", "softsync: an update sums workers / splits gradients", at_least(1)),
      field("fetch_every", "asynchronous: steps from one fetch of the parameters to the next", at_least(1)),
      field("push_every", "asynchronous: steps from one push of gradients to the next", at_least(1)),
      field("leaves", "tree: leaf servers between the workers and the servers", at_least(1)),
      field("partition_bytes", "partitioned: bytes of a partition", at_least(4)),
      field("credit_bytes", "partitioned: bytes that are sent but not acknowledged, at most"),
      field("fusion_bytes", "ring: bytes of an allreduce", at_least(4)),
      field("average_every", "local_sgd, bmuf: steps of a worker from one mean of the models to the next", at_least(1)),
      field("block_momentum", "bmuf: momentum of the blocks; negative: 1 - 1 / workers", range(-1, 1)),
      field("fraction", "federated: the share of the clients (the workers) that a round selects", range(0, 1)),
      field("epochs", "federated: how often a client uses each of its examples in a round", at_least(1)),
      field("label_shards", "federated: how many shards of examples with one label a client has; 0: random examples"),
      field("evaluate_every", "seconds from one evaluation on the test data to the next; 0: only one at the end",
            non_negative, changeable),
      field("target",
            "the training ends when an evaluation, or a federated round, reaches this test accuracy; 0: never",
            range(0, 1), changeable),
      field("curves", "write the results of the evaluations over time into this CSV file", changeable),
      field("snapshots",
            "during the training, write the model into this directory, in the format of --save; of these files, also "
            "those of other trainings, the newest 5 are kept",
            changeable),
      field("snapshot_every", "seconds from one snapshot to the next", positive, changeable),
      field("patience", "federated: seconds that a round waits for a client", positive, changeable),
      field("probability", "gossip: probability that a worker sends its model to another after a step", range(0, 1)),
      field("depth", "tree_aggregate: number of levels of sums between the workers and the servers", at_least(1)),
      field("stages", "pipeline: nodes over which the layers are split", at_least(1)),
      field("micro_batches", "pipeline: number of parts into which a batch is split", at_least(1)),
      field("work_units", "work_units: number of parts into which a batch is split", at_least(1)),
      field("epoch_share", "outer_product: an epoch ends when this share of its batches is done",
            Range{.low = 0, .high = 1, .above_low = true}),
      field("worker_groups", "topology: number of groups; the workers of a group do every step together", at_least(1)),
      field("shared_memory", "topology: groups of one worker each share the parameters in memory"));
};

// The program, with its groups "server" and "worker"; with looks also "evaluator" and "metrics", with snapshots
// "checkpointer". Error::failed when an option does not fit.
Program make_training(const TrainConfig& config);

// Chooses the device, and reads the data files and the first model for all nodes. The nodes on this host take them from
// the returned memory, which must outlive the run: a node that is restarted needs no file. On each other host one node
// reads the files there, for all nodes of that host, and they must be the same. The launcher calls it before the
// program is made; without it, every node reads the files. Error::failed when something is wrong with the files, or
// with `init` or `save`, and when the examples are not those of the run to resume, whose directory is `resumed`.
SharedExamples prepare_training(TrainConfig& config, const std::string& resumed = {});

// The examples for training and for testing, with features as the model takes them. The test examples are those of
// `test`, or a fifth of the data, which the seed chooses.
struct TrainingData {
  Dataset train{};
  Dataset test{};
  Scaling scaling{};
};
// `host` shares the files with the other nodes of a host that does not see the launcher's memory; null: it is the
// launcher's host.
TrainingData data_of(const TrainConfig& config, std::uint64_t run_seed, HostFiles* host = nullptr);

// The model for the data, which starts from the model in `init`, if given, and its units: {inputs, hidden..., classes}.
// It computes on the device.
std::unique_ptr<Model> model_of(const TrainConfig& config, HostFiles* host = nullptr);
std::vector<Eigen::Index> units_of(const TrainConfig& config);

// Computes loss and accuracy on the test set.
std::function<Judge(std::uint64_t seed)> judge_of(const TrainConfig& config);

// The model to save from a training that has ended with these parameters.
KeptModel kept_model(const TrainConfig& config, std::uint64_t run_seed, const Parameters& parameters,
                     HostFiles* host = nullptr);

// The rule, and its learning rate. Each rule learns the digits with its default rate.
OptimizerRule rule_of(const TrainConfig& config);
float rate_of(const TrainConfig& config);

}  // namespace lp
