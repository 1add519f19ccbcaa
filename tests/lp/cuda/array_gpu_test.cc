// Arrays on a real GPU: the ways of the values, memory that comes back, and what goes wrong. Needs a device.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/cuda/array.h"
#include "lp/wire/codec.h"
#include "tests/error_of.h"

namespace lp::cuda {
namespace {

lp::Array<int> numbers(std::size_t size) {
  auto values = lp::Array<int>::uninitialized(size);
  const std::span<int> all = values.edit();
  std::iota(all.begin(), all.end(), 7);
  return values;
}

// On the GPU, where the stream copies the values from another array.
Array<int> copied(Stream& stream, const Array<int>& from) {
  return Array<int>::make(stream, from.size(),
                          [&](int* out) { stream.queue()->copy(out, from.on(stream), from.size() * sizeof(int)); });
}

TEST(CudaArrayGpu, ValuesComeBackWhateverTheirNumber) {
  Stream stream;
  constexpr std::size_t kInPiece = Stage::kPiece / sizeof(int);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, kInPiece - 1, kInPiece, kInPiece + 1, 9 * kInPiece + 3}) {
    EXPECT_EQ(copied(stream, numbers(size)).host(), numbers(size)) << size;
  }
}

TEST(CudaArrayGpu, OtherStreamsReadWhatOneHasNotYetMade) {
  constexpr std::size_t kSize = std::size_t{1} << 24;
  Stream maker;
  Stream reader;
  std::vector<Array<int>> all;
  for (int i = 0; i < 20; ++i) all.push_back(copied(reader, copied(maker, numbers(kSize))));
  for (const Array<int>& one : all) ASSERT_EQ(one.host(), numbers(kSize));
}

TEST(CudaArrayGpu, MemoryComesBackInTheOrderOfTheWork) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  Stream maker;
  Stream reader;
  const Array<int> first(numbers(kBytes / sizeof(int)));
  Array<int> last = copied(maker, first);
  for (int i = 0; i < 1000; ++i) {  // 250 GiB: more than a GPU has
    last = copied(i % 2 == 0 ? reader : maker, last);
  }
  EXPECT_EQ(last.host(), first.host());
}

TEST(CudaArrayGpu, WithoutMemoryThatCallAloneFails) {
  Stream stream;
  try {
    Array<int>::make(stream, std::size_t{1} << 42, [](int*) {});
    ADD_FAILURE() << "there was memory";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::overloaded);
    EXPECT_NE(error.text().find("GPU 0 ("), std::string::npos) << error.text();
  }
  EXPECT_EQ(copied(stream, numbers(1000)).host(), numbers(1000));
}

TEST(CudaArrayGpu, ItTravelsAsAnArrayOfTheHost) {
  Stream stream;
  Writer writer;
  writer.value(copied(stream, numbers(100'000)));
  const Message message = writer.take();
  Reader reader(message.body.bytes(), message.arrays);
  EXPECT_EQ(copied(stream, reader.value<Array<int>>()).host(), numbers(100'000));
}

TEST(CudaArrayGpu, AProcessThatWasForkedIsRefused) {
  Stream stream;
  const Array<int> array = copied(stream, numbers(10));
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = test::error_of([&] { array.host(); });
    _exit(text.find("forked") != std::string::npos ? 7 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(array.host(), numbers(10));
}

TEST(CudaArrayGpu, ADeviceThatIsNotThereIsRefused) {
  EXPECT_NE(test::error_of([] { Stream stream(device(1000)); }), "no error");
}

// Bytes per second of ten copies of 1 GiB; the best of five.
template <class Copy>
double rate(Stream& stream, Copy copy) {
  constexpr int kCopies = 10;
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const Time begin = now();
    for (int i = 0; i < kCopies; ++i) copy();
    stream.wait();
    best = std::max(best, kCopies * 0x1p30 / to_seconds(now() - begin));
  }
  return best;
}

// It is one thread that copies into pinned memory, so the figure is also that of the host's memory.
TEST(CudaArrayGpu, BytesOfTheHostReachItAlmostAsFastAsPinnedOnes) {
  constexpr std::size_t kSize = std::size_t{1} << 30;
  const std::shared_ptr<Device> gpu = device();
  Stream stream(gpu);
  const lp::Array<std::byte> bytes(kSize);
  const auto there = Array<std::byte>::make(stream, kSize, [](std::byte*) {});
  void* const to = const_cast<std::byte*>(there.on(stream));
  const std::unique_ptr<Pinned> pinned = gpu->pin(Stage::kPiece);
  const double most = rate(stream, [&] {
    for (std::size_t at = 0; at < kSize; at += Stage::kPiece) {
      stream.queue()->to_device(static_cast<std::byte*>(to) + at, pinned->data(), Stage::kPiece);
    }
  });
  const double reached = rate(stream, [&] { stream.way_in().to_device(*stream.queue(), to, bytes.data(), kSize); });
  std::printf("host to GPU: %.1f GB/s, %.2f of pinned copies\n", reached / 1e9, reached / most);
  RecordProperty("share_of_pinned_copies", std::to_string(reached / most));
  EXPECT_GE(reached, 0.9 * most);
}

}  // namespace
}  // namespace lp::cuda
