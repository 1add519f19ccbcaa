// Training on a GPU reaches the accuracy of the host, and repeats its own bits. Needs a device.
#include <gtest/gtest.h>

#include <memory>

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

}  // namespace
}  // namespace lp
