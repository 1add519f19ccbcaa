// Arrays on a real GPU that two processes share: the bytes, the time, and what kills leave. Needs a device.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lp/cuda/array.h"
#include "lp/gpu/nvml.h"
#include "lp/lp.h"
#include "tests/lp/program/in_child.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

using Words = cuda::Array<int>;

constexpr std::size_t kBytesOfAll = std::size_t{64} << 20;
constexpr std::size_t kWords = kBytesOfAll / sizeof(int);

lp::Array<int> words_from(int first) {
  auto words = lp::Array<int>::uninitialized(kWords);
  const std::span<int> all = words.edit();
  std::iota(all.begin(), all.end(), first);
  return words;
}

// Copied on the GPU, so that the stream makes them.
Words words_on(cuda::Stream& stream, int first) {
  const Words brought(words_from(first));
  return Words::make(stream, kWords, [&](int* out) { stream.queue()->copy(out, brought.on(stream), kBytesOfAll); });
}

class GpuOwner {
 public:
  GpuOwner() : held_(words_on(stream_, 5)) { published.publish(held_); }
  Words held() const { return held_; }
  Words fresh(int first) { return words_on(stream_, first); }
  bool keep(Words words, int first) {
    kept_ = std::move(words);
    const Words copy =
        Words::make(stream_, kWords, [&](int* out) { stream_.queue()->copy(out, kept_.on(stream_), kBytesOfAll); });
    return copy.host() == words_from(first);
  }
  Published<Words> published;
  using Remote = Methods<&GpuOwner::held, &GpuOwner::fresh, &GpuOwner::keep, &GpuOwner::published>;

 private:
  cuda::Stream stream_;
  Words held_;
  Words kept_{};
};

Runtime::Options options_of_gpu_test() {
  Runtime::Options options;
  options.run.name = "test";
  options.run.token = "secret";
  options.network = true;
  options.run.path = Path::shm;
  options.run.deadline = std::chrono::seconds(60);
  return options;
}

class GpuOwnerProcess {
 public:
  explicit GpuOwnerProcess(const Program& program) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      LocalRun run(program, options_of_gpu_test());
      const std::string endpoint = run.runtime().endpoint() + "\n";
      static_cast<void>(write(ends[1], endpoint.data(), endpoint.size()));
      for (;;) pause();
    }
    close(ends[1]);
    for (char one = 0; read(ends[0], &one, 1) == 1 && one != '\n';) endpoint_ += one;
    close(ends[0]);
  }
  ~GpuOwnerProcess() { end(); }
  GpuOwnerProcess(const GpuOwnerProcess&) = delete;
  GpuOwnerProcess& operator=(const GpuOwnerProcess&) = delete;

  const std::string& endpoint() const { return endpoint_; }
  void end() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(std::exchange(process_, -1), nullptr, 0);
  }

 private:
  pid_t process_ = -1;
  std::string endpoint_;
};

struct GpuCaller {
  GpuCaller()
      : handle(program.add<GpuOwner>({.name = "owner"})),
        other(program),
        run(program, options_of_gpu_test(), LocalRun::kNothingHere) {
    const PeerState up{.node = 0, .incarnation = 1, .endpoint = other.endpoint()};
    run.runtime().update(std::span(&up, 1));
    owner.emplace(run.client(handle));
    stream.emplace();
  }

  // The values, after the stream has read them on the GPU.
  lp::Array<int> read_there(const Words& words) {
    const Words copy =
        Words::make(*stream, kWords, [&](int* out) { stream->queue()->copy(out, words.on(*stream), kBytesOfAll); });
    return copy.host();
  }

  Program program{"shares"};
  Handle<GpuOwner> handle;
  GpuOwnerProcess other;
  LocalRun run;
  std::optional<Client<GpuOwner>> owner{};
  std::optional<cuda::Stream> stream{};
};

// Runs the body in a new process. Returns its status: 0 if nothing failed.
template <class Body>
int with_gpu_caller(Body body) {
  return in_child([&] {
    GpuCaller caller;
    body(caller);
    return !testing::Test::HasFailure();
  });
}

TEST(CudaNeighboursGpu, ArraysGoBothWaysWithTheirBytes) {
  const int status = with_gpu_caller([](GpuCaller& here) {
    for (int first = 0; first < 20; ++first) {
      EXPECT_TRUE(here.read_there(here.owner->call<&GpuOwner::fresh>(first)) == words_from(first)) << first;
      EXPECT_TRUE(here.owner->call<&GpuOwner::keep>(words_on(*here.stream, -first), -first)) << first;
    }
    EXPECT_TRUE(here.read_there(*here.owner->read<&GpuOwner::published>()) == words_from(5));
  });
  EXPECT_EQ(status, 0);
}

TEST(CudaNeighboursGpu, AHandleCostsLessThan30Microseconds) {
  const int status = with_gpu_caller([](GpuCaller& here) {
    std::vector<double> times;
    for (int i = 0; i < 1000; ++i) {
      const Time begin = now();
      const Words words = here.owner->call<&GpuOwner::held>();
      EXPECT_NE(words.on(*here.stream), nullptr);
      times.push_back(to_seconds(now() - begin) * 1e6);
    }
    std::sort(times.begin(), times.end());
    std::printf("64 MiB between two processes: %.1f us (median), %.1f us (99 %%)\n", times[500], times[990]);
    std::fflush(stdout);  // this process ends without
    EXPECT_LT(times[500], 30);
  });
  EXPECT_EQ(status, 0);
}

// A reader or its owner is killed in the middle of their work with arrays. Returns whether what was left to do went
// well.
bool survives_a_kill(int number) {
  const bool reader = number % 2 == 0;  // the owner follows it
  const int status = with_gpu_caller([&](GpuCaller& here) {
    std::vector<Words> held;
    for (int k = 0; k < 4; ++k) held.push_back(here.owner->call<&GpuOwner::fresh>(number + k));
    for (int k = 0; k < 4; ++k)
      EXPECT_TRUE(here.read_there(held[static_cast<std::size_t>(k)]) == words_from(number + k));
    if (reader) raise(SIGKILL);
    here.other.end();
    EXPECT_TRUE(here.read_there(held[0]) == words_from(number));
  });
  return status == (reader ? SIGKILL : 0);
}

// Every process of `together` does its part of the kills.
void expect_no_memory_after(int kills, int together) {
  gpu::Nvml nvml;
  const std::string uuid = nvml.gpus().at(0).uuid;
  const std::uint64_t before = nvml.use(uuid).value().memory;
  std::vector<pid_t> processes;
  for (int part = 0; part < together; ++part) {
    const pid_t process = fork();
    if (process == 0) {
      bool good = true;
      for (int i = part; i < kills && good; i += together) good = survives_a_kill(i);
      _exit(good ? 0 : 1);
    }
    processes.push_back(process);
  }
  for (const pid_t process : processes) {
    int status = 0;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    EXPECT_EQ(status, 0);
  }
  const std::uint64_t after = nvml.use(uuid).value().memory;
  std::printf("%d kills: %llu MiB of the GPU were used before, %llu MiB are after\n", kills,
              static_cast<unsigned long long>(before >> 20), static_cast<unsigned long long>(after >> 20));
  EXPECT_LE(after, before + (std::uint64_t{16} << 20));
}

TEST(CudaNeighboursGpu, KillsOfReaderAndOwnerLeaveNoMemory) { expect_no_memory_after(20, 4); }
TEST(CudaNeighboursManyKillsGpu, LeaveNoMemory) { expect_no_memory_after(1000, 12); }

}  // namespace
}  // namespace lp
