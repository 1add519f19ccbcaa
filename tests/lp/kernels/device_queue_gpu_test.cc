// Every kernel on a GPU beside the same kernel on the host: the same bits, except where a function of the C library is
// called. Needs a device.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "lp/base/error.h"
#include "lp/kernels/device_queue.h"
#include "lp/kernels/selection.h"
#include "tests/lp/kernels/grids.h"

namespace lp::kernels {
namespace {

constexpr std::size_t kLarge = (std::size_t{1} << 20) + 3;
const std::vector<std::size_t> kDeviceSizes{0, 1, 3, 64, 255, 1003, kLarge};

template <class T>
std::vector<T> read(Queue& queue, const Room<T>& room) {
  std::vector<T> out(room.size());
  room.read(out);
  queue.wait();
  return out;
}

// Runs f, which returns vectors of bits, on both queues.
template <class F>
void expect_same_bits(F f) {
  const auto host = host_queue();
  const auto device = device_queue();
  const auto expected = f(*host);
  EXPECT_EQ(f(*device), expected);
  EXPECT_EQ(f(*device), expected);  // it repeats them
}

template <class Step>
void expect_updates(const Step& step) {
  for (const std::size_t size : kDeviceSizes) {
    expect_same_bits([&](Queue& queue) {
      const Room<float> w(queue, test::normal_values(size));
      const Room<float> first(queue, size);
      const Room<float> second(queue, size);
      for (std::uint64_t i = 1; i <= 3; ++i) {
        const Room<float> gradient(queue, test::normal_values(size, i));
        GradientSum sum{.count = 2, .divisor = 3};
        sum.terms[0] = {.values = gradient.data(), .weight = 0.7F};
        sum.terms[1] = {.values = gradient.data(), .weight = -0.2F};
        queue.run(Update<Step>{step, sum, w.data(), first.data(), second.data(), size});
      }
      return std::vector{read(queue, w), read(queue, first), read(queue, second)};
    });
  }
}

TEST(DeviceQueueGpu, UpdatesHaveTheBitsOfTheHost) {
  expect_updates(SgdStep{0.1F});
  expect_updates(MomentumStep{0.1F, 0.9F});
  expect_updates(AdaGradStep{0.1F, 1e-8F});
  expect_updates(AdamStep{0.01F, 0.9F, 0.999F, 1e-8F, 0.1F, 0.001F});
  expect_updates(FtrlStep{0.1F, 1, 0.5F, 0.1F});
  expect_updates(SumStep{0.5F});
}

TEST(DeviceQueueGpu, NoiseHasTheBitsOfTheHost) {
  for (const std::size_t size : kDeviceSizes) {
    expect_same_bits([&](Queue& queue) {
      const CounterNumbers numbers{12345};
      const Room<float> noise(queue, size);
      queue.run(NormalNumbers{numbers, 7, noise.data(), size});
      const Room<float> point(queue, size);
      queue.run(Perturb<CounterNumbers>{numbers, 9, noise.data(), 0.3F, point.data(), size});
      const Room<std::uint64_t> trials(queue, std::vector<std::uint64_t>{3, 4, 5});
      const Room<float> weights(queue, std::vector<float>{0.5F, 0, -0.25F});
      const Room<float> gradient(queue, size);
      queue.run(SearchGradient<CounterNumbers>{numbers, trials.data(), weights.data(), 3, point.data(), 0.01F,
                                               gradient.data(), size});
      return std::vector{read(queue, noise), read(queue, point), read(queue, gradient)};
    });
  }
}

TEST(DeviceQueueGpu, CompressionHasTheBitsOfTheHost) {
  for (const std::size_t size : kDeviceSizes) {
    expect_same_bits([&](Queue& queue) {
      const Room<float> residual(queue, test::normal_values(size));
      const Room<float> gradient(queue, test::normal_values(size, 1));
      queue.run(AddClipped{gradient.data(), 1.5F, residual.data(), size});
      const Room<std::uint64_t> bits(queue, words_of_bits(size));
      const Room<float> means(queue, 2 * columns_of(size, 50));
      queue.run(OneBitBits{residual.data(), size, bits.data()});
      queue.run(OneBitMeans{residual.data(), size, 50, means.data()});
      queue.run(OneBitSubtract{means.data(), bits.data(), 50, residual.data(), size});
      std::vector<std::vector<float>> out{read(queue, means), read(queue, residual)};
      if (size == 0) return out;
      TopK top_k(queue, size, size / 10 + 1);
      top_k.run(residual.data());
      const auto count = top_k.kept().size();
      queue.run(AddAtPositions{top_k.positions().data(), top_k.kept().data(), count, -1, residual.data()});
      out.push_back(read(queue, top_k.kept()));
      out.push_back(read(queue, residual));
      return out;
    });
  }
}

TEST(DeviceQueueGpu, FindsTheFirstValueThatIsNotFinite) {
  std::vector<float> values = test::normal_values(kLarge);
  values[kLarge - 2] = std::nanf("");
  expect_same_bits([&](Queue& queue) {
    const Room<float> room(queue, values);
    BadSearch search(queue);
    search.run(room.data(), room.size());
    std::uint64_t bad = 0;
    queue.to_host(&bad, search.result(), sizeof(bad));
    queue.wait();
    return bad;
  });
}

TEST(DeviceQueueGpu, ProductsAndLayersAreThoseOfTheHostUpToRounding) {
  const auto run = [](Queue& queue) {
    const Room<float> a(queue, test::normal_values(std::size_t{70} * 130, 1));
    const Room<float> b(queue, test::normal_values(std::size_t{70} * 130, 2));
    const Room<float> none(queue, std::size_t{70} * 70);
    const Room<float> first(queue, std::size_t{130} * 130);
    const Room<float> second(queue, std::size_t{70} * 70);
    queue.multiply({Product::Transposed::none, 70, 70, 130, a.data(), b.data(), none.data()});
    queue.multiply({Product::Transposed::first, 130, 130, 70, a.data(), b.data(), first.data()});
    queue.multiply({Product::Transposed::second, 70, 70, 130, a.data(), b.data(), second.data()});
    queue.run(Activate<Tanh>{b.data(), 70, second.data(), 70});
    const Room<std::int32_t> labels(queue, std::vector<std::int32_t>(70, 3));
    const Room<double> losses(queue, 70);
    queue.run(CrossEntropy{none.data(), labels.data(), 70, 70, losses.data()});
    return std::vector{read(queue, none), read(queue, first), read(queue, second)};
  };
  const auto host = host_queue();
  const auto device = device_queue();
  const auto expected = run(*host);
  const auto got = run(*device);
  EXPECT_EQ(run(*device), got);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    for (std::size_t i = 0; i < expected[k].size(); ++i) ASSERT_NEAR(got[k][i], expected[k][i], 1e-3) << k << ", " << i;
  }
}

TEST(DeviceQueueGpu, NoMoreMemoryFailsThatCallAlone) {
  const auto queue = device_queue();
  EXPECT_THROW(Room<float>(*queue, std::size_t{1} << 44), Error);
  const Room<float> room(*queue, std::vector<float>{1, 2});
  EXPECT_EQ(read(*queue, room), (std::vector<float>{1, 2}));
}

TEST(DeviceQueueGpu, AProcessThatWasForkedIsRefused) {
  const auto queue = device_queue();
  const pid_t child = fork();
  if (child == 0) {
    try {
      queue->wait();
    } catch (const Error&) {
      _exit(7);
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(DeviceQueueGpu, ADeviceThatIsNotThereIsRefused) { EXPECT_THROW(device_queue(1000), Error); }

}  // namespace
}  // namespace lp::kernels
