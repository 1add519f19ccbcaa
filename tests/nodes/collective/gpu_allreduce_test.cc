// Sums of arrays on GPUs by NCCL: a stand-in for it, on GPUs that the processor executes.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lp/gpu/shared_library.h"
#include "lp/lp.h"
#include "tests/lp/cuda/processor_device.h"
#include "tests/lp/gpu/nccl_stand_in.h"
#include "tests/nodes/collective/collective_group.h"

namespace lp {
namespace {

using test::Group;
using test::ProcessorDevice;
using test::serial_sum;
using test::Values;
using test::whole_numbers;
using Floats = cuda::Array<float>;

constexpr Duration kLongest = std::chrono::seconds(20);

// A GPU, and values that its stream makes.
struct GpuOfRank {
  explicit GpuOfRank(const std::string& name, std::size_t memory = std::size_t{1} << 30)
      : gpu(std::make_shared<ProcessorDevice>(name, memory)), stream(gpu) {}
  explicit GpuOfRank(std::uint32_t index) : GpuOfRank("GPU-" + std::to_string(index)) {}

  Floats numbers(std::uint32_t member, std::size_t size) {
    return Floats::make(stream, size, [&](float* out) {
      test::put_kernel(stream, [out, member, size] {
        const Values values = whole_numbers(member, size);
        std::copy(values.begin(), values.end(), out);
      });
    });
  }
  Values read(const Floats& array) {
    Values values(array.size());
    const float* const from = array.on(stream);
    test::put_kernel(stream, [&, from] { std::copy_n(from, values.size(), values.begin()); });
    stream.wait();
    return values;
  }

  std::shared_ptr<ProcessorDevice> gpu;
  cuda::Stream stream;
};

class GpuAllreduce : public testing::Test {
 protected:
  GpuAllreduce() { on_call({}); }
  ~GpuAllreduce() override { on_call({}); }

  void on_call(std::function<int(const std::string& function, int rank)> f) {
    const test::NcclStandIn hooks{.on_call = std::move(f), .put = [](void* stream, std::function<void()> work) {
                                    static_cast<test::ProcessorQueue*>(stream)->put(std::move(work));
                                  }};
    for (const char* const library : {NCCL_WHOLE_LIBRARY, NCCL_OTHER_LIBRARY}) {
      void (*set)(const test::NcclStandIn*) = nullptr;
      gpu::SharedLibrary(library, gpu::SharedLibrary::Unload::never).get("nccl_stand_in", set);
      set(&hooks);
    }
  }
  static CollectiveOptions with_nccl(const std::string& library = NCCL_WHOLE_LIBRARY) { return {.nccl = library}; }
};

TEST_F(GpuAllreduce, SumsStayOnTheGpus) {
  const std::vector<std::size_t> sizes{0, 1, 70'001, 1000};
  Group group(
      3,
      [&](Collective& all, std::uint32_t index) {
        GpuOfRank here(index);
        all.join();
        for (int round = 0; round < 3; ++round) {
          std::vector<Floats> arrays;
          for (const std::size_t size : sizes) arrays.push_back(here.numbers(index, size));
          all.allreduce(arrays, here.stream);
          for (std::size_t i = 0; i < sizes.size(); ++i) {
            EXPECT_TRUE(here.read(arrays[i]) == serial_sum(3, sizes[i], whole_numbers)) << sizes[i];
          }
        }
        EXPECT_EQ(all.gpu_obstacle(), "");
        EXPECT_EQ(here.gpu->copies(), 0);  // between the GPU and the host
      },
      with_nccl());
  group.finish();
}

TEST_F(GpuAllreduce, TheArraysOfOtherReadersStayAsTheyAre) {
  Group group(
      2,
      [&](Collective& all, std::uint32_t index) {
        GpuOfRank here(index);
        all.join();
        const Floats before = here.numbers(index, 100);
        Floats array = before;
        all.allreduce(array, here.stream);
        EXPECT_TRUE(here.read(before) == whole_numbers(index, 100));
        EXPECT_TRUE(here.read(array) == serial_sum(2, 100, whole_numbers));
      },
      with_nccl());
  group.finish();
}

// The options of each rank, and the reason that all of them find.
struct Without {
  std::string name;
  std::function<CollectiveOptions(std::uint32_t)> options;
  std::function<std::string(std::uint32_t)> gpu;
  std::function<int(const std::string&, int)> on_call;
  std::string reason;
};

class GpuAllreduceWithout : public GpuAllreduce, public testing::WithParamInterface<Without> {};

TEST_P(GpuAllreduceWithout, ValuesGoThroughTheHost) {
  const Without& how = GetParam();
  on_call(how.on_call);
  Group group(how.options, 3, [&](Collective& all, std::uint32_t index) {
    GpuOfRank here(how.gpu(index));
    all.join();
    for (int round = 0; round < 2; ++round) {
      Floats array = here.numbers(index, 5000);
      all.allreduce(array, here.stream);
      EXPECT_TRUE(here.read(array) == serial_sum(3, 5000, whole_numbers));
    }
    EXPECT_NE(all.gpu_obstacle().find(how.reason), std::string::npos) << all.gpu_obstacle();
    EXPECT_GT(here.gpu->copies(), 0);
  });
  group.finish();
}

std::string own_gpu(std::uint32_t index) { return "GPU-" + std::to_string(index); }
CollectiveOptions all_have_it(std::uint32_t) { return {.nccl = NCCL_WHOLE_LIBRARY}; }
std::function<CollectiveOptions(std::uint32_t)> rank_one_has(const std::string& library) {
  return [library](std::uint32_t index) -> CollectiveOptions {
    return {.nccl = index == 1 ? library : NCCL_WHOLE_LIBRARY};
  };
}
std::function<int(const std::string&, int)> fails(const std::string& wrong, int at, int code) {
  return [=](const std::string& function, int rank) { return function == wrong && rank == at ? code : 0; };
}

INSTANTIATE_TEST_SUITE_P(
    Nccl, GpuAllreduceWithout,
    testing::Values(
        Without{"Options", rank_one_has(""), own_gpu, {}, "rank 1: CollectiveOptions::nccl names no library"},
        Without{"Library", rank_one_has("libnccl-nothing.so"), own_gpu, {}, "rank 1: libnccl-nothing.so: "},
        Without{"NewLibrary", rank_one_has(NCCL_OLD_LIBRARY), own_gpu, {}, " is NCCL 2.13.4: install "},
        Without{"Function", rank_one_has(NCCL_PARTIAL_LIBRARY), own_gpu, {}, "ncclCommInitRankConfig"},
        Without{"OneVersion",
                rank_one_has(NCCL_OTHER_LIBRARY),
                own_gpu,
                {},
                "rank 0 has NCCL 2.27.3, and rank 1 has 2.21.5: "},
        Without{"OwnGpus",
                all_have_it,
                [](std::uint32_t index) { return own_gpu(index / 2); },
                {},
                "rank 1 shares its GPU with another rank"},
        Without{"Id", all_have_it, own_gpu, fails("ncclGetUniqueId", -1, 2), "rank 0: NCCL: ncclGetUniqueId: "},
        Without{"Begin", all_have_it, own_gpu, fails("ncclCommInitRankConfig", 1, 1),
                "rank 1: NCCL: ncclCommInitRankConfig: "},
        Without{"End", all_have_it, own_gpu, fails("ncclCommGetAsyncError", 2, 3), "rank 2: NCCL: "}),
    [](const auto& one) { return one.param.name; });

// A member dies when its rank comes to this function. All others go on without it.
class GpuAllreduceDeath : public GpuAllreduce, public testing::WithParamInterface<std::string> {};

TEST_P(GpuAllreduceDeath, EndsTheSumsOfAllOthersWithItsName) {
  constexpr std::uint32_t kVictim = 1;
  std::atomic<int> out = 0;
  std::atomic<bool> first = true;
  Event reached;
  Event killed;
  on_call([&](const std::string& function, int rank) {
    if (function != GetParam() || rank != kVictim || !first.exchange(false)) return 0;
    reached.set();
    EXPECT_TRUE(killed.wait(after(kLongest)));
    return 1;
  });
  Group group(
      3,
      [&](Collective& all, std::uint32_t index) {
        GpuOfRank here(index);
        Floats array = here.numbers(index, 1000);
        all.join();
        try {
          all.allreduce(array, here.stream);
          ADD_FAILURE() << "rank " << index << " has a sum";
        } catch (const Error& error) {
          if (index == kVictim) return;
          EXPECT_EQ(error.kind(), ErrorKind::disconnected) << error.what();
          EXPECT_NE(std::string(error.what()).find("collective/1"), std::string::npos) << error.what();
        }
        EXPECT_TRUE(here.read(array) == whole_numbers(index, 1000));
        all.join();
        EXPECT_EQ(all.ranks(), 2U);
        all.allreduce(array, here.stream);
        EXPECT_EQ(all.gpu_obstacle(), "");
        Values expected = whole_numbers(0, 1000);
        const Values second = whole_numbers(2, 1000);
        for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += second[i];
        EXPECT_TRUE(here.read(array) == expected);
        ++out;
      },
      with_nccl());
  EXPECT_TRUE(reached.wait(after(kLongest)));
  group.kill(kVictim);
  killed.set();
  group.finish();
  EXPECT_EQ(out, 2);
}
INSTANTIATE_TEST_SUITE_P(In, GpuAllreduceDeath, testing::Values("ncclCommInitRankConfig", "ncclAllReduce"));

TEST_F(GpuAllreduce, AnErrorOfNcclInOneRankEndsTheSumsOfAll) {
  on_call(fails("ncclAllReduce", 2, 1));
  Group group(
      3,
      [&](Collective& all, std::uint32_t index) {
        GpuOfRank here(index);
        Floats array = here.numbers(index, 1000);
        all.join();
        try {
          all.allreduce(array, here.stream);
          ADD_FAILURE() << "rank " << index << " has a sum";
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), index == 2 ? ErrorKind::failed : ErrorKind::disconnected) << error.what();
          const std::string text = error.what();
          EXPECT_NE(text.find("NCCL: ncclAllReduce: a mistake"), std::string::npos) << text;
          const bool names_it = text.find("member 2 of the collective has left it") != std::string::npos;
          EXPECT_EQ(names_it, index != 2) << text;
        }
        EXPECT_TRUE(here.read(array) == whole_numbers(index, 1000));
      },
      with_nccl());
  group.finish();
}

TEST_F(GpuAllreduce, ArraysOfOtherSizesAreRefusedBeforeNcclBegins) {
  on_call([](const std::string& function, int) {
    EXPECT_NE(function, "ncclAllReduce");
    return 0;
  });
  Group group(
      2,
      [&](Collective& all, std::uint32_t index) {
        GpuOfRank here(index);
        all.join();
        std::vector<Floats> arrays{here.numbers(0, 10 + index), here.numbers(0, 11 - index)};
        try {
          all.allreduce(arrays, here.stream);
          ADD_FAILURE() << "rank " << index << " has a sum";
        } catch (const Error& error) {
          EXPECT_NE(std::string(error.what()).find("as many tensors of the same sizes"), std::string::npos)
              << error.what();
        }
      },
      with_nccl());
  group.finish();
}

TEST_F(GpuAllreduce, WithoutMemoryOneCallFailsAndTheNextOneIsTheSum) {
  constexpr std::size_t kSize = 30'000;
  Group group(
      2,
      [&](Collective& all, std::uint32_t index) {
        GpuOfRank here("GPU-" + std::to_string(index), 3 * kSize * sizeof(float));
        all.join();
        Floats array = here.numbers(index, kSize);
        if (index == 1) {
          const Floats in_the_way = here.numbers(0, kSize + kSize / 2);
          try {
            all.allreduce(array, here.stream);
            ADD_FAILURE() << "there was memory";
          } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::overloaded) << error.what();
          }
        }
        all.allreduce(array, here.stream);
        EXPECT_TRUE(here.read(array) == serial_sum(2, kSize, whole_numbers));
        EXPECT_EQ(all.gpu_obstacle(), "");
      },
      with_nccl());
  group.finish();
}

}  // namespace
}  // namespace lp
