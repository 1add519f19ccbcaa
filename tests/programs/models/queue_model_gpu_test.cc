// Training on a GPU reaches the accuracy of the host, repeats its own bits, and costs little beside its products. Needs
// a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/kernels/device_queue.h"
#include "programs/models/queue_model.h"
#include "programs/models/serial.h"
#include "programs/training/evaluation.h"

namespace lp {
namespace {

template <class HostModel>
void expect_equal_training(const HostModel& host, const Training& training) {
  const Split data = split(digits(), 1);
  const auto accuracy = [&](const Eigen::VectorXf& parameters) {
    return evaluate(host, parameters, data.test).accuracy;
  };
  const auto on_device = on_queue([] { return kernels::device_queue(); }, host);
  const Eigen::VectorXf learned = train_serial(*on_device, data.train, training);
  EXPECT_NEAR(accuracy(learned), accuracy(train_serial(host, data.train, training)), 0.01);
  EXPECT_EQ(train_serial(*on_device, data.train, training), learned);
  Eigen::VectorXf expected;
  Eigen::VectorXf got;
  const double loss = host.loss(learned, data.test, expected);
  EXPECT_NEAR(on_device->loss(learned, data.test, got), loss, 1e-4 * (1 + loss));
  EXPECT_LT((got - expected).norm(), 1e-4 * (1 + expected.norm()));
}

TEST(QueueModelGpu, TrainsAsOnTheHost) {
  expect_equal_training(Mlp({64, 256, 10}, Activation::tanh), {.steps = 200, .rule = Momentum{.rate = 0.05F}});
  expect_equal_training(Mlp({64, 64, 10}, Activation::relu), {.steps = 200, .rule = Adam{.rate = 0.003F}});
  expect_equal_training(LinearModel(64, 10), {.steps = 200, .rule = Sgd{.rate = 0.1F}});
}

// The seconds of the best of five.
template <class Work>
double best_seconds(Work work) {
  double best = 1e9;
  for (int round = 0; round < 6; ++round) {
    const Time begin = now();
    work();
    if (round > 0) best = std::min(best, to_seconds(now() - begin));  // the first one takes memory
  }
  return best;
}

// The products of a batch alone, of the same shapes, beside its loss and gradient.
TEST(QueueModelGpu, TrainsNearlyAsFastAsItsProducts) {
  using kernels::Product;
  using kernels::Room;
  using Transposed = Product::Transposed;
  const std::vector<Eigen::Index> widths{1024, 4096, 4096, 10};
  constexpr Eigen::Index kExamples = 8192;
  const Mlp host(widths, Activation::relu);
  const auto model = on_queue([] { return kernels::device_queue(); }, host);
  const Eigen::VectorXf parameters = host.initialize(1);
  const Dataset batch{.features = Eigen::MatrixXf::Random(widths.front(), kExamples),
                      .labels = Eigen::VectorXi::Zero(kExamples),
                      .classes = static_cast<int>(widths.back())};
  Eigen::VectorXf gradient;
  const double training = best_seconds([&] { model->loss(parameters, batch, gradient); });

  const auto queue = kernels::device_queue();
  const std::size_t most = std::size_t{4096} * kExamples;  // the largest of all matrices
  const Room<float> a(*queue, most);
  const Room<float> b(*queue, most);
  const Room<float> c(*queue, most);
  const auto multiply = [&](Transposed transposed, Eigen::Index rows, Eigen::Index columns, Eigen::Index inner) {
    queue->multiply({.transposed = transposed,
                     .rows = static_cast<std::uint64_t>(rows),
                     .columns = static_cast<std::uint64_t>(columns),
                     .inner = static_cast<std::uint64_t>(inner),
                     .a = a.data(),
                     .b = b.data(),
                     .c = c.data()});
  };
  const double products = best_seconds([&] {
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
      multiply(Transposed::none, widths[i + 1], kExamples, widths[i]);
      multiply(Transposed::second, widths[i + 1], widths[i], kExamples);
      if (i > 0) multiply(Transposed::first, widths[i], kExamples, widths[i + 1]);
    }
    queue->wait();
  });
  std::printf("training: %.1f ms, its products alone: %.1f ms\n", training * 1e3, products * 1e3);
  EXPECT_LE(0.8 * training, products);
}

}  // namespace
}  // namespace lp
