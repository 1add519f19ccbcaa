#include "programs/models/linear.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "programs/models/serial.h"
#include "programs/schemes/asynchronous.h"
#include "programs/schemes/bounded_delay.h"
#include "programs/schemes/softsync.h"
#include "programs/schemes/stale_synchronous.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

// Examples with a few of many inputs, whose class a hidden linear model decides.
Dataset sparse_examples(Eigen::Index inputs, Eigen::Index count, int classes) {
  Random random(3, "examples");
  Eigen::MatrixXf hidden(classes, inputs);
  for (float& value : hidden.reshaped()) value = static_cast<float>(random.normal());
  Dataset out;
  out.features.setZero(inputs, count);
  out.labels.resize(count);
  out.classes = classes;
  for (Eigen::Index example = 0; example < count; ++example) {
    for (int i = 0; i < 5; ++i) {
      out.features(static_cast<Eigen::Index>(random.below(static_cast<std::uint64_t>(inputs))), example) =
          static_cast<float>(random.normal());
    }
    Eigen::Index label = 0;
    (hidden * out.features.col(example)).maxCoeff(&label);
    out.labels(example) = static_cast<int>(label);
  }
  return sparsified(out);
}
Dataset dense(const Dataset& data) { return {Eigen::MatrixXf(data.sparse), data.labels, data.classes}; }

Eigen::VectorXf some_parameters(const Model& model) {
  Random random(4, "parameters");
  Eigen::VectorXf out(model.size());
  for (float& value : out) value = static_cast<float>(random.normal());
  return out;
}

class Linear : public testing::TestWithParam<int> {};  // classes
INSTANTIATE_TEST_SUITE_P(Classes, Linear, testing::Values(2, 4));

TEST_P(Linear, TheGradientAgreesWithFiniteDifferences) {
  const Dataset data = dense(sparse_examples(7, 20, GetParam()));
  const LinearModel model(7, GetParam());
  EXPECT_EQ(model.size(), 8 * (GetParam() == 2 ? 1 : GetParam()));
  Eigen::VectorXf parameters = some_parameters(model);
  Eigen::VectorXf gradient;
  Eigen::VectorXf ignored;
  model.loss(parameters, data, gradient);
  for (Eigen::Index i = 0; i < model.size(); ++i) {
    constexpr float kStep = 1e-2F;
    Eigen::VectorXf moved = parameters;
    moved(i) += kStep;
    const double above = model.loss(moved, data, ignored);
    moved(i) -= 2 * kStep;
    const double below = model.loss(moved, data, ignored);
    EXPECT_NEAR((above - below) / (2 * kStep), gradient(i), 2e-3 * (1 + std::abs(gradient(i)))) << i;
  }
}

TEST_P(Linear, SparseAndDenseAgreeAndSoDoRowsAlone) {
  const Dataset sparse = sparse_examples(200, 30, GetParam());
  const LinearModel model(200, GetParam());
  const Eigen::VectorXf parameters = some_parameters(model);
  Eigen::VectorXf gradient;
  Eigen::VectorXf dense_gradient;
  const double loss = model.loss(parameters, sparse, gradient);
  EXPECT_NEAR(model.loss(parameters, dense(sparse), dense_gradient), loss, 1e-4);
  EXPECT_LE((gradient - dense_gradient).norm(), 1e-5 * gradient.norm());
  EXPECT_LE((model.scores_of(parameters, sparse) - model.scores(parameters, dense(sparse).features)).norm(), 1e-4);

  const Array<std::uint64_t> rows = model.rows(sparse);
  EXPECT_LT(rows.size(), 151U);  // at most five inputs for each example, and the biases
  EXPECT_EQ(rows[rows.size() - 1], 200U);
  Eigen::VectorXf alone(static_cast<Eigen::Index>(rows.size()) * model.width());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    alone.segment(static_cast<Eigen::Index>(i) * model.width(), model.width()) =
        parameters.segment(static_cast<Eigen::Index>(rows[i]) * model.width(), model.width());
  }
  Eigen::VectorXf alone_gradient;
  EXPECT_EQ(model.loss(alone, sparse, alone_gradient), loss);
  Eigen::VectorXf back = Eigen::VectorXf::Zero(model.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    back.segment(static_cast<Eigen::Index>(rows[i]) * model.width(), model.width()) =
        alone_gradient.segment(static_cast<Eigen::Index>(i) * model.width(), model.width());
  }
  EXPECT_EQ(back, gradient);
}

TEST(LinearModel, RefusesWhatDoesNotFit) {
  EXPECT_THROW(LinearModel(0, 2), Error);
  EXPECT_THROW(LinearModel(3, 1), Error);
  const LinearModel model(3, 2);
  const Dataset data = sparse_examples(7, 5, 2);
  Eigen::VectorXf gradient;
  EXPECT_THROW(model.loss(Eigen::VectorXf(2), data, gradient), Error);
  EXPECT_THROW(model.scores(Eigen::VectorXf(4), Eigen::MatrixXf(5, 1)), Error);
  EXPECT_THROW(model.scores_of(Eigen::VectorXf(4), data), Error);
}

TEST(SparseDataset, IsReadAndGatheredAsADenseOne) {
  const Bytes text{"1 2:5 4:1\n0\n0 1:-1\n1 4:2\n", "text"};
  const Dataset sparse = parse_libsvm(text, Storage::sparse);
  const Dataset whole = parse_libsvm(text);
  ASSERT_TRUE(sparse.is_sparse());
  EXPECT_EQ(sparse.inputs(), 4);
  EXPECT_EQ(sparse.examples(), 4);
  EXPECT_EQ(Eigen::MatrixXf(sparse.sparse), whole.features);
  const std::vector<std::uint32_t> some{3, 1, 0};
  EXPECT_EQ(Eigen::MatrixXf(gather(sparse, some).sparse), gather(whole, some).features);
  EXPECT_EQ(gather(sparse, some).labels, gather(whole, some).labels);
  EXPECT_EQ(Eigen::MatrixXf(sparsified(whole).sparse), whole.features);
  // The number of a feature that no dense matrix could hold.
  EXPECT_EQ(parse_libsvm({"0 4000000000:1\n1 1:1\n", "text"}, Storage::sparse).inputs(), 4'000'000'000);
}

// Workers exchange only the rows of their batches, and learn as well as a single one with all rows.
TEST(SparseTraining, ExchangesRowsAloneAndReachesSerialAccuracy) {
  static constexpr Eigen::Index kInputs = 2000;
  constexpr std::uint64_t kSteps = 2500;
  const Dataset all = sparse_examples(kInputs, 4000, 2);
  LearningTask task;
  task.model = [] { return std::make_unique<LinearModel>(kInputs, 2); };
  task.data = [&all](std::uint64_t) { return all; };
  const ServerTraining training{
      .workers = 3, .servers = 2, .steps = kSteps, .rule = Sgd{.rate = 2}, .checkpoint_every = 0};
  const Eigen::VectorXf serial =
      train_serial(*task.model(), all, {.steps = kSteps, .batch = 64, .seed = test::kSeed, .rule = Sgd{.rate = 2}});
  const double expected = evaluate(*task.model(), serial, all).accuracy;
  EXPECT_GE(expected, 0.9);
  const auto train = [&](const test::TrainingRun::Add& add) {
    test::TrainingRun run(add);
    run.finish();
    const Parameters parameters = trained_parameters(run.servers(), run.workers(), task.model()->size());
    EXPECT_GE(evaluate(*task.model(), parameters.values, all).accuracy, expected - 0.01);
    std::uint64_t received = 0;
    for (const auto& worker : run.workers().all<&TrainingWorker::statistics>()) received += worker.bytes_received;
    return static_cast<double>(received) / kSteps;
  };
  constexpr double kAll = (kInputs + 1) * sizeof(float);
  // 64 examples of 5 inputs have 321 rows at most; a third of the examples has 108 rows for each of three workers.
  EXPECT_LT(train([&](Program& program) { return add_asynchronous_training(program, task, training); }), kAll / 6);
  EXPECT_LT(train([&](Program& program) { return add_bounded_delay_training(program, task, training, 1); }), kAll / 6);
  EXPECT_LT(train([&](Program& program) { return add_stale_synchronous_training(program, task, training, 1); }),
            kAll / 6);
}

// The one leaf of all workers sums gradients of all parameters: so the order of the updates is always the same.
TEST(SparseTraining, OverATreeIsTheTrainingOfTheSameDataKeptDense) {
  const Dataset sparse = sparse_examples(50, 400, 2);
  Dataset dense = sparse;
  dense.features = Eigen::MatrixXf(sparse.sparse);
  dense.sparse = {};
  const auto train = [](const Dataset& data) {
    const LearningTask task{.model = [] { return std::make_unique<LinearModel>(50, 2); },
                            .data = [&data](std::uint64_t) { return data; }};
    test::TrainingRun run([&](Program& program) {
      return add_softsync_training(program, task, {.workers = 3, .servers = 2, .steps = 150}, 1, 1);
    });
    run.finish();
    return trained_parameters(run.servers(), run.workers(), task.model()->size()).values;
  };
  const Eigen::VectorXf expected = train(dense);
  EXPECT_GT(expected.norm(), 0);
  EXPECT_LT((train(sparse) - expected).norm(), 1e-4F * expected.norm());
}

}  // namespace
}  // namespace lp
