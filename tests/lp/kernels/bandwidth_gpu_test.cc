// The bandwidth that optimizer kernels reach on a GPU, beside that of its own copies. Needs a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "lp/base/scheduler.h"
#include "lp/kernels/device_queue.h"

namespace lp::kernels {
namespace {

constexpr std::size_t kSize = std::size_t{1} << 26;

// Bytes per second; the best of five.
template <class Work>
double best_rate(Queue& queue, double bytes, Work work) {
  constexpr int kTimes = 20;
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    queue.wait();
    const Time begin = now();
    for (int i = 0; i < kTimes; ++i) work();
    queue.wait();
    best = std::max(best, kTimes * bytes / to_seconds(now() - begin));
  }
  return best;
}

template <class Step>
void expect_bandwidth(const char* name, const Step& step) {
  const std::unique_ptr<Queue> queue = device_queue();
  const Room<float> parameters(*queue, kSize);
  const Room<float> first(*queue, kSize);
  const Room<float> second(*queue, kSize);
  const Room<float> gradient(*queue, kSize);
  constexpr double kBytes = kSize * sizeof(float);
  const double copies =
      best_rate(*queue, 2 * kBytes, [&] { queue->copy(parameters.data(), gradient.data(), kSize * sizeof(float)); });
  GradientSum sum{.count = 1};
  sum.terms[0].values = gradient.data();
  const Update<Step> update{step, sum, parameters.data(), first.data(), second.data(), kSize};
  const double moved = kBytes * (3 + (Step::kFirst ? 2 : 0) + (Step::kSecond ? 2 : 0));  // each read and written once
  const double reached = best_rate(*queue, moved, [&] { queue->run(update); });
  std::printf("%s: %.0f GB/s, %.2f of copies\n", name, reached / 1e9, reached / copies);
  EXPECT_GE(reached, 0.85 * copies) << name;
}

TEST(OptimizerBandwidthGpu, IsNearlyThatOfCopies) {
  expect_bandwidth("SGD", SgdStep{0.1F});
  expect_bandwidth("momentum", MomentumStep{0.1F, 0.9F});
  expect_bandwidth("AdaGrad", AdaGradStep{0.1F, 1e-8F});
  expect_bandwidth("Adam", AdamStep{0.01F, 0.9F, 0.999F, 1e-8F, 0.1F, 0.001F});
  expect_bandwidth("FTRL", FtrlStep{0.1F, 1, 0.5F, 0.1F});
}

}  // namespace
}  // namespace lp::kernels
