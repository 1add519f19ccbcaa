// Arrays on a GPU that the processor executes: the order of the work, the ways of the values, and what goes wrong.

#include "lp/cuda/array.h"

#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <vector>

#include "lp/wire/shape.h"
#include "tests/error_of.h"
#include "tests/lp/cuda/processor_device.h"

namespace lp::cuda {
namespace {

using test::ProcessorDevice;
using test::put_kernel;

std::shared_ptr<ProcessorDevice> gpu(std::size_t memory = std::size_t{1} << 30) {
  return std::make_shared<ProcessorDevice>("GPU-test", memory);
}

std::vector<int> counted(std::size_t size) {
  std::vector<int> values(size);
  std::iota(values.begin(), values.end(), 7);
  return values;
}

// Made by a kernel.
Array<int> made(Stream& stream, std::size_t size) {
  return Array<int>::make(stream, size,
                          [&](int* out) { put_kernel(stream, [out, size] { std::iota(out, out + size, 7); }); });
}

std::vector<int> on_host(const Array<int>& array) {
  const lp::Array<int> values = array.host();
  return {values.begin(), values.end()};
}

// Wraps around, as the sums of large arrays do.
unsigned sum_of(const int* values, std::size_t size) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += static_cast<unsigned>(values[i]);
  return sum;
}

// Sums in the stream, and waits.
unsigned sum_in(Stream& stream, const Array<int>& array) {
  unsigned sum = 0;
  const int* values = array.on(stream);
  put_kernel(stream, [&sum, values, size = array.size()] { sum = sum_of(values, size); });
  stream.wait();
  return sum;
}

TEST(CudaArrayTest, ItsValuesComeBackWhateverTheirNumber) {
  Stream stream(gpu());
  constexpr std::size_t kInPiece = Stage::kPiece / sizeof(int);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, kInPiece - 1, kInPiece, kInPiece + 1, 2 * kInPiece + 3, 9 * kInPiece + 3}) {
    EXPECT_EQ(on_host(made(stream, size)), counted(size)) << size;
    const Array<int> brought(lp::Array<int>::copy_of(counted(size)));
    EXPECT_EQ(brought.size(), size);
    const std::vector<int> values = counted(size);
    EXPECT_EQ(sum_in(stream, brought), sum_of(values.data(), size)) << size;
  }
}

TEST(CudaArrayTest, AnotherStreamReadsWhatOneHasNotYetMadeAndNobodyWaits) {
  const auto device = gpu();
  Stream maker(device);
  Stream reader(device);
  const Array<int> array = made(maker, 1000);
  const Array<int> copy = array;
  EXPECT_EQ(sum_in(reader, copy), 506'500U);
  EXPECT_EQ(device->copies(), 0);  // the values never left the GPU
}

TEST(CudaArrayTest, MemoryGoesBackAfterTheWorkOfEveryStreamThatReadsIt) {
  const auto device = gpu();
  {
    Stream maker(device);
    Stream reader(device);
    std::optional<Array<int>> array = made(maker, 1000);
    unsigned sum = 0;
    const int* values = array->on(reader);
    put_kernel(reader, [&sum, values] { sum = sum_of(values, 1000); });
    array.reset();
    maker.wait();  // gives the memory back, so the reader must have read
    EXPECT_EQ(sum, 506'500U);
    EXPECT_EQ(device->used(), 0U);
  }
  EXPECT_EQ(device->used(), 0U);
}

TEST(CudaArrayTest, AnArrayOutlivesItsStream) {
  const auto device = gpu();
  std::optional<Array<int>> array;
  {
    Stream stream(device);
    array = made(stream, 10);
  }
  EXPECT_EQ(on_host(*array), counted(10));
  array.reset();
  EXPECT_EQ(device->used(), 0U);
}

TEST(CudaArrayTest, ValuesMoveOnceForAllWhoAsk) {
  const auto device = gpu();
  Stream stream(device);
  const Array<int> array = made(stream, 100);
  EXPECT_EQ(array.host().data(), Array<int>(array).host().data());
  EXPECT_EQ(device->copies(), 1);
  const Array<int> brought(lp::Array<int>::copy_of(counted(100)));
  EXPECT_EQ(brought.on(stream), brought.on(stream));
  stream.wait();
  EXPECT_EQ(device->copies(), 2);
}

TEST(CudaArrayTest, AnArrayOfAnotherGpuComesThroughTheHost) {
  const auto one = gpu();
  const auto other = gpu();
  Stream here(one);
  Stream there(other);
  const Array<int> array = made(here, 1000);
  EXPECT_EQ(sum_in(there, array), 506'500U);
  EXPECT_EQ(sum_in(here, array), 506'500U);
  EXPECT_EQ(one->copies() + other->copies(), 2);
}

TEST(CudaArrayTest, WithoutMemoryThatCallAloneFails) {
  const auto device = gpu(4000);
  Stream stream(device);
  std::optional<Array<int>> all = made(stream, 1000);
  try {
    made(stream, 1);
    ADD_FAILURE() << "there was memory";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::overloaded);
    EXPECT_EQ(error.text(), "GPU-test has no 4 of memory left");
  }
  const Array<int> brought(lp::Array<int>::copy_of(counted(1)));
  EXPECT_THROW(brought.on(stream), Error);
  EXPECT_EQ(on_host(*all), counted(1000));
  all.reset();
  EXPECT_EQ(sum_in(stream, brought), 7U);
  EXPECT_EQ(on_host(made(stream, 900)), counted(900));
}

TEST(CudaArrayTest, AGpuThatDisappearsIsNamedAndItsArraysCanBeDropped) {
  const auto device = gpu();
  Stream stream(device);
  std::optional<Array<int>> lost = made(stream, 10);
  const Array<int> kept = made(stream, 10);
  kept.host();
  device->fail();
  EXPECT_EQ(test::error_of([&] { lost->host(); }), "GPU-test: it has disappeared");
  EXPECT_EQ(test::error_of([&] { made(stream, 10); }), "GPU-test: it has disappeared");
  EXPECT_EQ(test::error_of([&] { stream.wait(); }), "GPU-test: it has disappeared");
  EXPECT_EQ(on_host(kept), counted(10));  // the host has them
  lost.reset();
}

TEST(CudaArrayTest, AKernelThatCannotBeStartedLeavesNothing) {
  const auto device = gpu();
  Stream stream(device);
  EXPECT_THROW(Array<int>::make(stream, 10, [](int*) { throw_failed("no such kernel"); }), Error);
  stream.wait();
  EXPECT_EQ(device->used(), 0U);
}

TEST(CudaArrayTest, ItTravelsAsAnArrayOfTheHostAndIsReceivedAsEither) {
  Stream stream(gpu());
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{5000}}) {
    Writer writer;
    writer.value(made(stream, size));
    const Message message = writer.take();
    Reader as_host(message.body.bytes(), message.arrays);
    EXPECT_EQ(as_host.value<lp::Array<int>>(), lp::Array<int>::copy_of(counted(size)));
    as_host.finish();
    Reader as_gpu(message.body.bytes(), message.arrays);
    EXPECT_EQ(on_host(as_gpu.value<Array<int>>()), counted(size));
  }
  EXPECT_EQ(shape_of<Array<float>>(), shape_of<lp::Array<float>>());
  EXPECT_EQ(on_host(lp::Array<int>(made(stream, 3))), counted(3));
}

TEST(CudaDeviceTest, WithoutAToolkitOrAGpuOneSentenceSaysWhatToDo) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);  // also where there is one
  const std::string text = test::error_of([] { Stream stream; });
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_NE(text, "no error");
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

}  // namespace
}  // namespace lp::cuda
