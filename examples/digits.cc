// Trains a neural network on handwritten digits: workers compute gradients, servers hold the parameters.
//
//   worker/0 ─┬─▶ server/0
//   worker/1 ─┼─▶ server/1
//   ...       ┘   ...
//
//   build/examples/digits --launch=processes --workers=4 --servers=2

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launchers/main.h"
#include "lp/kernels/chosen_device.h"
#include "lp/lp.h"
#include "programs/models/kept_model.h"
#include "programs/training/evaluation.h"
#include "programs/training/synchronous.h"

struct Config {
  int workers = 4;
  int servers = 1;
  std::uint64_t steps = 500;
  std::uint32_t batch = 64;
  float rate = 0.05F;
  std::vector<int> hidden = {256};
  std::string device = "cpu";
  int restarts = 0;
  std::uint64_t checkpoint_every = 50;
  std::string images{};
  std::string labels{};
  std::string libsvm{};

  static constexpr auto fields = lp::fields(
      lp::field("workers", "nodes that compute gradients", lp::range(1, 1024)),
      lp::field("servers", "nodes that hold a part of the parameters each", lp::range(1, 1024)),
      lp::field("steps", "batches to train on", lp::changeable),
      lp::field("batch", "images in a batch, all workers together", lp::at_least(1)),
      lp::field("rate", "learning rate", lp::positive, lp::changeable),
      lp::field("hidden", "units of each hidden layer; without any: softmax regression", lp::at_least(1)),
      lp::field("device", "where workers compute gradients: cpu, cuda or auto", lp::changeable),
      lp::field("restarts", "how often a failed node is restarted before the program stops", lp::non_negative,
                lp::changeable),
      lp::field("checkpoint_every", "steps from one checkpoint to the next; 0: only one at the end", lp::changeable),
      lp::field("images", "IDX file of images, as MNIST's, instead of the built-in digits"),
      lp::field("labels", "IDX file of their labels"), lp::field("libsvm", "libsvm file, instead of either"));
};

// 80 % are for training, the rest for testing.
lp::Split data_of(const Config& config, std::uint64_t seed) {
  if (!config.libsvm.empty()) return lp::split(lp::load_libsvm(config.libsvm), seed);
  if (!config.images.empty()) return lp::split(lp::load_idx(config.images, config.labels), seed);
  return lp::split(lp::digits(), seed);
}

// On the host, or on the queue of a device.
std::unique_ptr<lp::Model> model_of(const Config& config, const lp::kernels::MakeQueue& make_queue = {}) {
  const lp::Dataset data = data_of(config, 0).train;
  std::vector<Eigen::Index> layers(config.hidden.begin(), config.hidden.end());
  layers.insert(layers.begin(), data.inputs());
  layers.push_back(data.classes);
  return lp::make_model(lp::ModelKind::mlp, layers, lp::Activation::tanh, make_queue);
}

lp::Program make_program(const Config& config) {
  if (config.images.empty() != config.labels.empty()) {
    throw lp::Error(lp::ErrorKind::failed, "give both --images and --labels, or neither");
  }
  const lp::kernels::MakeQueue make_queue = lp::kernels::queue_on(lp::kernels::chosen_device(config.device));
  lp::Program program("digits");
  lp::add_synchronous_training(program,
                               {.model = [config, make_queue] { return model_of(config, make_queue); },
                                .data = [config](std::uint64_t seed) { return data_of(config, seed).train; },
                                .device = config.device},
                               {.workers = config.workers,
                                .servers = config.servers,
                                .steps = config.steps,
                                .batch = config.batch,
                                .rule = lp::Momentum{.rate = config.rate},
                                .checkpoint_every = config.checkpoint_every,
                                .restarts = config.restarts});
  return program;
}

struct Result {
  double accuracy = 0;
  double loss = 0;
  std::uint64_t steps = 0;
  std::string parameters_hash{};
};

Result report(lp::Run& run, const Config& config) {
  const lp::Parameters parameters = lp::latest_parameters(run.clients<lp::ParameterServer>("server"));
  if (parameters.step < config.steps) {
    throw lp::Error(lp::ErrorKind::failed, "the servers are at step " + std::to_string(parameters.step) + " of " +
                                               std::to_string(config.steps) + ": one failed after the last step");
  }
  const lp::Evaluation test = lp::evaluate(*model_of(config), parameters.values, data_of(config, run.seed()).test);
  std::printf("%s\n", lp::confusion_table(test.confusion).c_str());
  return {.accuracy = test.accuracy,
          .loss = test.loss,
          .steps = parameters.step,
          .parameters_hash = lp::parameters_hash(parameters.values)};
}

int main(int argc, char** argv) {
  return lp::main<Config>(argc, argv, make_program, report,
                          [](Config& config) { config.device = lp::kernels::chosen_device(config.device); });
}
