// A handler that finds no memory on its GPU: that call fails, and its node goes on.

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "lp/cuda/array.h"
#include "lp/lp.h"
#include "tests/lp/cuda/processor_device.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

constexpr std::size_t kBytesOfGpu = 4000;

// Keeps arrays on a small GPU.
class SmallStore {
 public:
  void keep(const cuda::Array<int>& numbers) {
    const int* const there = numbers.on(stream_);
    auto copy = cuda::Array<int>::make(
        stream_, numbers.size(), [&](int* out) { stream_.queue()->copy(out, there, numbers.size() * sizeof(int)); });
    kept_.push_back(std::move(copy));
  }
  void drop() { kept_.clear(); }
  std::vector<int> sizes() const {
    std::vector<int> all;
    for (const auto& one : kept_) all.push_back(static_cast<int>(one.host().size()));
    return all;
  }
  using Remote = Methods<&SmallStore::keep, &SmallStore::drop, &SmallStore::sizes>;

 private:
  cuda::Stream stream_{std::make_shared<test::ProcessorDevice>("GPU-small", kBytesOfGpu)};
  std::vector<cuda::Array<int>> kept_;
};

cuda::Array<int> some(std::size_t size) { return Array<int>(size); }

class HandlerWithoutMemory : public testing::TestWithParam<bool> {};

TEST_P(HandlerWithoutMemory, FailsThatCallAndTheNodeLives) {
  Program program("small");
  const auto handle = program.add<SmallStore>({.name = "store"});
  Runtime::Options options;
  options.run.serialize = GetParam();
  LocalRun run(program, options);
  const Client<SmallStore> store = run.client(handle);
  store.call<&SmallStore::keep>(some(100));
  for (int i = 0; i < 3; ++i) {
    try {
      store.call<&SmallStore::keep>(some(900));
      ADD_FAILURE() << "there was memory";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::overloaded) << error.what();
      EXPECT_EQ(error.node(), "store");
      EXPECT_EQ(error.text(), "GPU-small has no 3.5K of memory left");
    }
  }
  EXPECT_EQ(store.call<&SmallStore::sizes>(), std::vector<int>{100});
  store.call<&SmallStore::drop>();
  store.call<&SmallStore::keep>(some(450));
  EXPECT_EQ(store.call<&SmallStore::sizes>(), std::vector<int>{450});
  EXPECT_TRUE(run.failed().empty());
}
INSTANTIATE_TEST_SUITE_P(Serialized, HandlerWithoutMemory, testing::Bool());

}  // namespace
}  // namespace lp
