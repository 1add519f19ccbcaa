// Models on a queue beside those on the host: the same losses, gradients and scores up to rounding, on every grid.
#include "programs/models/queue_model.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "programs/models/serial.h"
#include "programs/training/evaluation.h"
#include "tests/lp/kernels/grids.h"

namespace lp {
namespace {

Dataset labelled_examples(Eigen::Index inputs, int classes, Eigen::Index count) {
  Random random(8, "labelled");
  Dataset out{.features = Eigen::MatrixXf(inputs, count), .labels = Eigen::VectorXi(count), .classes = classes};
  for (float& value : out.features.reshaped()) value = static_cast<float>(random.normal());
  for (int& label : out.labels) label = static_cast<int>(random.below(static_cast<std::uint64_t>(classes)));
  return out;
}

Eigen::VectorXf drawn_parameters(const Model& model) {
  Random random(9, "parameters");
  Eigen::VectorXf out(model.size());
  for (float& value : out) value = static_cast<float>(0.3 * random.normal());
  return out;
}

void expect_equal(const Model& host, const Model& queue, int inputs, int classes) {
  EXPECT_EQ(queue.size(), host.size());
  EXPECT_EQ(queue.width(), host.width());
  EXPECT_EQ(queue.initialize(5), host.initialize(5));
  const Eigen::VectorXf parameters = drawn_parameters(host);
  for (const Eigen::Index examples : {37, 0, 1, 64}) {  // the larger batch first: its memory is used again
    const Dataset batch = labelled_examples(inputs, classes, examples);
    Eigen::VectorXf expected;
    Eigen::VectorXf got;
    const double loss = host.loss(parameters, batch, expected);
    EXPECT_NEAR(queue.loss(parameters, batch, got), loss, 1e-5 * (1 + loss)) << examples;
    ASSERT_EQ(got.size(), expected.size());
    EXPECT_LT((got - expected).norm(), 1e-5 * (1 + expected.norm())) << examples;
    Eigen::VectorXf again;
    queue.loss(parameters, batch, again);
    EXPECT_EQ(again, got);  // it repeats its own bits
    if (examples == 0) continue;
    const Eigen::MatrixXf scores = host.scores(parameters, batch.features);
    EXPECT_LT((queue.scores(parameters, batch.features) - scores).norm(), 1e-5 * (1 + scores.norm()));
    EXPECT_EQ(queue.scores_of(parameters, batch), queue.scores(parameters, batch.features));
  }
}

kernels::MakeQueue queue_with(kernels::Grid grid) {
  return [grid] { return kernels::host_queue(grid); };
}

TEST(QueueModel, AnMlpEqualsThatOfTheHost) {
  for (const kernels::Grid grid : test::kGrids) {
    for (const std::vector<Eigen::Index>& units :
         std::vector<std::vector<Eigen::Index>>{{5, 3}, {5, 7, 3}, {5, 16, 9, 3}, {5, 4, 1}}) {
      for (const Activation activation : {Activation::relu, Activation::tanh}) {
        const Mlp host(units, activation);
        const int classes = static_cast<int>(units.back());
        expect_equal(host, *on_queue(queue_with(grid), host), 5, classes);
      }
    }
  }
}

TEST(QueueModel, ALinearModelEqualsThatOfTheHost) {
  for (const kernels::Grid grid : test::kGrids) {
    for (const int classes : {2, 3, 10}) {
      const LinearModel host(6, classes);
      expect_equal(host, *on_queue(queue_with(grid), host), 6, classes);
    }
  }
}

TEST(QueueModel, SparseExamplesHaveTheBitsOfTheHost) {
  const LinearModel host(6, 3);
  const auto queue = on_queue(queue_with({}), host);
  const Dataset batch = sparsified(labelled_examples(6, 3, 20));
  const Eigen::VectorXf parameters = drawn_parameters(host);
  Eigen::VectorXf expected;
  Eigen::VectorXf got;
  EXPECT_EQ(queue->loss(parameters, batch, got), host.loss(parameters, batch, expected));
  EXPECT_EQ(got, expected);
  EXPECT_EQ(queue->rows(batch), host.rows(batch));
  EXPECT_EQ(queue->scores_of(parameters, batch), host.scores_of(parameters, batch));
}

TEST(QueueModel, SizesAndLabelsThatDoNotFitAreRefused) {
  const Mlp host({5, 4, 3});
  const auto queue = on_queue(queue_with({}), host);
  Eigen::VectorXf gradient;
  const Eigen::VectorXf parameters = drawn_parameters(host);
  EXPECT_THROW(queue->loss(parameters.head(3), labelled_examples(5, 3, 4), gradient), Error);
  EXPECT_THROW(queue->loss(parameters, labelled_examples(6, 3, 4), gradient), Error);
  EXPECT_THROW(queue->scores(parameters, Eigen::MatrixXf::Zero(4, 2)), Error);
  Dataset batch = labelled_examples(5, 3, 4);
  batch.labels(2) = 3;
  EXPECT_THROW(queue->loss(parameters, batch, gradient), Error);
  batch.labels.resize(3);
  EXPECT_THROW(queue->loss(parameters, batch, gradient), Error);
}

// Nodes that need no computation need no device.
TEST(QueueModel, MakesItsQueueWithTheFirstComputation) {
  int made = 0;
  const Mlp host({5, 3});
  const auto queue = on_queue([&made] { return ++made, kernels::host_queue(); }, host);
  EXPECT_EQ(queue->initialize(1).size(), queue->size());
  EXPECT_EQ(made, 0);
  Eigen::VectorXf gradient;
  queue->loss(drawn_parameters(host), labelled_examples(5, 3, 4), gradient);
  queue->loss(drawn_parameters(host), labelled_examples(5, 3, 4), gradient);
  EXPECT_EQ(made, 1);
}

TEST(QueueModel, LearnsTheDigitsAsWellAsOnTheHost) {
  const Split data = split(digits(), 1);
  const Mlp host({64, 32, 10}, Activation::tanh);
  const Training training{.steps = 150, .batch = 64, .rule = Momentum{.rate = 0.05F}};
  const auto accuracy = [&](const Model& model) {
    return evaluate(host, train_serial(model, data.train, training), data.test).accuracy;
  };
  const double expected = accuracy(host);
  EXPECT_GT(expected, 0.9);
  EXPECT_NEAR(accuracy(*on_queue(queue_with({}), host)), expected, 0.01);
}

}  // namespace
}  // namespace lp
