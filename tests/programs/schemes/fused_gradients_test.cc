// Backpropagation that starts the sum of each layer's gradient as soon as it is computed has the bits of a sum at the
// end of the step.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "nodes/collective/fused_allreduce.h"
#include "programs/data/batches.h"
#include "programs/schemes/ring.h"
#include "programs/training/rows.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

constexpr std::uint32_t kFusingWorkers = 3;
constexpr std::uint64_t kFusedSteps = 100;
constexpr std::uint32_t kBatch = 64;

// One layer of a perceptron, whose parameters follow those of the layer below.
struct Layer {
  MlpLayers layer;
  Eigen::VectorXf parameters{};
  Eigen::VectorXf gradient{};
  std::vector<Eigen::MatrixXf> outputs{};
};

// The result of a worker that starts the sum of each layer's gradient as soon as it has it.
Eigen::VectorXf train(Collective& all, std::uint64_t seed) {
  const LearningTask task = test::digits_task();
  const Dataset data = task.data(seed);
  const Eigen::VectorXf initial = task.model()->initialize(seed);
  std::vector<Layer> layers{{MlpLayers({64, 24}, Activation::tanh, true, false)},
                            {MlpLayers({24, 10}, Activation::tanh, false, true)}};
  layers[0].parameters = initial.head(layers[0].layer.size());
  layers[1].parameters = initial.tail(layers[1].layer.size());
  Batches batches(static_cast<std::uint32_t>(data.examples()), kBatch, seed);
  Optimizer optimizer{.rule = Sgd{.rate = 0.1F}};  // has no state, so that it may take layer by layer
  FusedAllreduce sums(all, static_cast<std::uint32_t>(layers.size()));
  for (std::uint64_t step = 0; step < kFusedSteps; ++step) {
    const Dataset batch = gather(data, batches.shard(step, all.rank(), all.ranks()));
    const auto inputs = [&](std::size_t layer) -> const Eigen::MatrixXf& {
      return layer == 0 ? batch.features : layers[layer - 1].outputs.back();
    };
    for (std::size_t i = 0; i < layers.size(); ++i) {
      layers[i].outputs = layers[i].layer.forward(layers[i].parameters, inputs(i));
    }
    Eigen::MatrixXf delta = layers.back().outputs.back();
    softmax_cross_entropy(delta, batch.labels);
    for (std::size_t i = layers.size(); i-- > 0;) {
      auto& [layer, parameters, gradient, outputs] = layers[i];
      delta = layer.backward(parameters, inputs(i), outputs, std::move(delta), gradient);
      sums.start(static_cast<std::uint32_t>(i), flat(gradient));
    }
    sums.wait();
    for (Layer& one : layers) descend(optimizer, one.parameters, one.gradient, kBatch);
  }
  Eigen::VectorXf out(initial.size());
  out << layers[0].parameters, layers[1].parameters;
  return out;
}

TEST(FusedGradients, HaveTheBitsOfASumAtTheEndOfTheStep) {
  const CollectiveOptions kInOrder{.allreduce = Allreduce::direct};
  test::TrainingRun ring([&](Program& program) {
    return add_ring_training(program, test::digits_task(), test::training_of(kFusingWorkers, kFusedSteps), kInOrder);
  });
  const Eigen::VectorXf expected = ring.result().values;

  std::vector<Eigen::VectorXf> results(kFusingWorkers);
  Program program("fused");
  const auto members = program.group<CollectiveMember>({.name = "collective", .replicas = kFusingWorkers}, context);
  const auto work = [&](Context& context, const Clients<CollectiveMember>& of_all) {
    const auto index = static_cast<std::uint32_t>(context.index());
    Collective all(of_all, index, kInOrder);
    all.join();
    results[index] = train(all, context.program_seed());
  };
  program.function({.name = "worker", .replicas = kFusingWorkers}, work, members);
  Runtime::Options options;
  options.run.seed = test::kSeed;
  LocalRun run(program, options);
  run.wait_finished();
  EXPECT_TRUE(run.failed().empty());
  for (const Eigen::VectorXf& one : results) EXPECT_EQ(one, expected);
}

}  // namespace
}  // namespace lp
