// Arrays on a GPU that processes of one host share: what moves, who keeps the memory, and what is sent where it cannot
// be shared. The processor executes the GPU; its memory is shared between processes like that of a real one.

#include "lp/cuda/ipc_memory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/cuda/array.h"
#include "lp/lp.h"
#include "tests/error_of.h"
#include "tests/lp/cuda/processor_device.h"
#include "tests/lp/program/in_child.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

using test::ProcessorDevice;
using test::put_kernel;

using Numbers = cuda::Array<int>;

constexpr std::size_t kLarge = 100'000;  // items; large enough to be shared
constexpr std::size_t kSmall = 2'000;

std::shared_ptr<ProcessorDevice> gpu_for_test(const std::string& name = "GPU-shared") {
  return std::make_shared<ProcessorDevice>(name);
}

Numbers filled(cuda::Stream& stream, std::size_t size, int first) {
  return Numbers::make(
      stream, size, [&](int* out) { put_kernel(stream, [out, size, first] { std::iota(out, out + size, first); }); });
}

// Whether the stream reads these numbers.
bool reads(cuda::Stream& stream, const Numbers& numbers, std::size_t size, int first) {
  bool right = numbers.size() == size;
  const int* const values = numbers.on(stream);
  put_kernel(stream, [&right, values, size, first] {
    for (std::size_t i = 0; i < size; ++i) right = right && values[i] == first + static_cast<int>(i);
  });
  stream.wait();
  return right;
}

// Makes and keeps arrays on its GPU.
class Owner {
 public:
  explicit Owner(std::string name) : gpu_(gpu_for_test(name)), stream_(gpu_) {
    published.publish(filled(stream_, kLarge, 5));
  }
  Numbers made(std::size_t size, int first) { return filled(stream_, size, first); }
  lp::Array<int> on_host(Numbers numbers) const { return numbers; }
  bool keep(Numbers numbers, int first) {
    kept_.push_back(std::move(numbers));
    return reads(stream_, kept_.back(), kept_.back().size(), first);
  }
  void drop() { kept_.clear(); }
  std::size_t used() {
    stream_.wait();
    return gpu_->used();
  }
  int copies() const { return gpu_->copies(); }
  void refuse() { gpu_->refuse_to_share(); }
  Stream<Numbers> several(int count) {
    for (int i = 0; i < count; ++i) co_yield filled(stream_, kLarge, i);
  }
  Published<Numbers> published;
  using Remote = Methods<&Owner::made, &Owner::on_host, idempotent<&Owner::keep>, &Owner::drop, &Owner::used,
                         &Owner::copies, &Owner::refuse, &Owner::several, &Owner::published>;

 private:
  const std::shared_ptr<ProcessorDevice> gpu_;
  cuda::Stream stream_;
  std::vector<Numbers> kept_;
};

Runtime::Options options_for(Path path) {
  Runtime::Options options;
  options.run.name = "test";
  options.run.token = "secret";
  options.network = true;
  options.run.path = path;
  options.run.shared_memory = std::size_t{256} << 20;
  options.run.deadline = std::chrono::seconds(20);
  return options;
}

// The owner in a process of its own, until it is killed.
class OwnerProcess {
 public:
  OwnerProcess(const Program& program, Path path, std::uint32_t incarnation = 1) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      LocalRun run(program, options_for(path), incarnation);
      const std::string endpoint = run.runtime().endpoint() + "\n";
      static_cast<void>(write(ends[1], endpoint.data(), endpoint.size()));
      for (;;) pause();
    }
    close(ends[1]);
    for (char one = 0; read(ends[0], &one, 1) == 1 && one != '\n';) endpoint_ += one;
    close(ends[0]);
  }
  ~OwnerProcess() { end(); }
  OwnerProcess(const OwnerProcess&) = delete;
  OwnerProcess& operator=(const OwnerProcess&) = delete;

  const std::string& endpoint() const { return endpoint_; }
  // It does nothing more.
  void halt() const {
    kill(process_, SIGSTOP);
    waitpid(process_, nullptr, WUNTRACED);
  }
  void end() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(std::exchange(process_, -1), nullptr, 0);
  }

 private:
  pid_t process_ = -1;
  std::string endpoint_;
};

// A process that calls the owner, and has the same GPU.
struct Caller {
  explicit Caller(Path path)
      : owner_handle(program.add<Owner>({.name = "owner"}, std::string("GPU-shared"))),
        other(program, path),
        run(program, options_for(path), LocalRun::kNothingHere) {
    const PeerState up{.node = 0, .incarnation = 1, .endpoint = other.endpoint()};
    run.runtime().update(std::span(&up, 1));
    owner.emplace(run.client(owner_handle));
    stream.emplace(gpu);
    owner->call<&Owner::drop>();  // makes the connection
  }

  // Waits for what others bring about.
  template <class Condition>
  static void wait_until(Condition condition) {
    Event later;
    for (const Time end = after(std::chrono::seconds(20)); !condition();) {
      if (passed(end)) {
        ADD_FAILURE() << "it does not happen";
        return;
      }
      later.wait(after(std::chrono::milliseconds(1)));
    }
  }
  // The owner has memory for so many arrays, as soon as it knows what came back.
  void expect_used_there(std::size_t arrays) {
    wait_until([&] { return owner->call<&Owner::used>() == arrays * kLarge * sizeof(int); });
  }
  // The supervisor reports that the other process is gone.
  void kill_other() {
    other.end();
    const PeerState gone{.node = 0, .incarnation = 2, .gone = true, .text = "it was killed"};
    run.runtime().update(std::span(&gone, 1));
  }
  int copies() { return gpu->copies() + owner->call<&Owner::copies>(); }

  Program program{"shares"};
  Handle<Owner> owner_handle;
  OwnerProcess other;
  LocalRun run;
  std::shared_ptr<ProcessorDevice> gpu = gpu_for_test();
  std::optional<Client<Owner>> owner{};
  std::optional<cuda::Stream> stream{};
};

// Runs the body in a new process, so that nothing of other tests is there before it forks the owner's.
template <class Body>
void in_two_processes(Path path, Body body) {
  EXPECT_EQ(in_child([&] {
              Caller caller(path);
              body(caller);
              return !testing::Test::HasFailure();
            }),
            0);
}

TEST(CudaNeighbours, ResultsAreReadWhereTheyAreAndGoBack) {
  in_two_processes(Path::shm, [](Caller& here) {
    {
      const auto numbers = here.owner->call<&Owner::made>(kLarge, 3);
      EXPECT_TRUE(reads(*here.stream, numbers, kLarge, 3));
      EXPECT_EQ(here.gpu->used(), 0U);
      here.expect_used_there(2);  // with the published version
    }
    here.expect_used_there(1);
    EXPECT_EQ(here.copies(), 0);
  });
}

TEST(CudaNeighbours, ArgumentsAreReadWhereTheyAreAndComeBack) {
  in_two_processes(Path::shm, [](Caller& here) {
    auto numbers = filled(*here.stream, kLarge, 9);
    EXPECT_TRUE(here.owner->call<&Owner::keep>(numbers, 9));
    EXPECT_EQ(here.copies(), 0);
    numbers = {};
    here.stream->wait();
    EXPECT_EQ(here.gpu->used(), kLarge * sizeof(int)) << "kept for its reader";
    here.owner->call<&Owner::drop>();
    Caller::wait_until([&] {
      here.owner->call<&Owner::copies>();  // the next message brings what came back
      here.stream->wait();
      return here.gpu->used() == 0;
    });
  });
}

TEST(CudaNeighbours, VersionsAndStreamsAreReadWhereTheyAre) {
  in_two_processes(Path::shm, [](Caller& here) {
    const auto version = here.owner->read<&Owner::published>();
    EXPECT_TRUE(reads(*here.stream, *version, kLarge, 5));
    int first = 0;
    auto several = here.owner->stream<&Owner::several>(4);
    while (auto one = several.next()) EXPECT_TRUE(reads(*here.stream, *one, kLarge, first++));
    EXPECT_EQ(first, 4);
    EXPECT_EQ(here.copies(), 0);
  });
}

TEST(CudaNeighbours, ValuesComeToTheHostOfTheirReader) {
  in_two_processes(Path::shm, [](Caller& here) {
    const auto numbers = here.owner->call<&Owner::made>(kLarge, 4);
    const lp::Array<int> values = numbers;
    ASSERT_EQ(values.size(), kLarge);
    EXPECT_EQ(values[kLarge - 1], 3 + static_cast<int>(kLarge));
    EXPECT_EQ(here.owner->call<&Owner::copies>(), 0) << "the reader copies";
    EXPECT_GT(here.gpu->copies(), 0);
    EXPECT_EQ(here.owner->call<&Owner::on_host>(numbers), values);
  });
}

TEST(CudaNeighbours, SmallArraysAndThoseThatCannotBeSharedComeAsBytes) {
  in_two_processes(Path::shm, [](Caller& here) {
    EXPECT_TRUE(reads(*here.stream, here.owner->call<&Owner::made>(kSmall, 6), kSmall, 6));
    EXPECT_TRUE(here.owner->call<&Owner::made>(0U, 6).empty());
    here.owner->call<&Owner::refuse>();
    EXPECT_TRUE(reads(*here.stream, here.owner->call<&Owner::made>(kLarge, 7), kLarge, 7));
    EXPECT_EQ(here.gpu->opens(), 0);
    EXPECT_GT(here.owner->call<&Owner::copies>(), 0);
  });
}

TEST(CudaNeighbours, WhereMemoryIsNotOpenedTheNextArraysComeAsBytes) {
  in_two_processes(Path::shm, [](Caller& here) {
    here.gpu->refuse_to_open();
    const auto refused = here.owner->call<&Owner::made>(kLarge, 3);
    EXPECT_EQ(test::error_of([&] { refused.on(*here.stream); }),
              "GPU-shared: the memory of another process is refused");
    EXPECT_TRUE(reads(*here.stream, here.owner->call<&Owner::made>(kLarge, 4), kLarge, 4));
    const cuda::Stream more(here.gpu);  // does not announce it again
    EXPECT_TRUE(reads(*here.stream, here.owner->call<&Owner::made>(kLarge, 5), kLarge, 5));
  });
}

TEST(CudaNeighbours, OtherPathsGetBytes) {
  in_two_processes(Path::tcp, [](Caller& here) {
    EXPECT_TRUE(reads(*here.stream, here.owner->call<&Owner::made>(kLarge, 8), kLarge, 8));
    EXPECT_TRUE(here.owner->call<&Owner::keep>(filled(*here.stream, kLarge, 2), 2));
    EXPECT_EQ(here.gpu->opens(), 0);
  });
}

TEST(CudaNeighbours, AnArrayOfAnotherGpuComesAsBytesOrThroughTheHost) {
  in_two_processes(Path::shm, [](Caller& here) {
    const auto another = gpu_for_test("GPU-another");
    cuda::Stream stream(another);
    EXPECT_TRUE(here.owner->call<&Owner::keep>(filled(stream, kLarge, 2), 2));  // which the owner does not have
    EXPECT_GT(another->copies(), 0);
    EXPECT_TRUE(reads(stream, here.owner->call<&Owner::made>(kLarge, 3), kLarge, 3));
    EXPECT_EQ(here.gpu->opens(), 1);
    EXPECT_GT(here.gpu->copies(), 0);
  });
}

TEST(CudaNeighbours, AReaderWhoseGpuIsGoneGetsAnError) {
  in_two_processes(Path::shm, [](Caller& here) {
    const auto numbers = here.owner->call<&Owner::made>(kLarge, 3);
    here.stream.reset();
    here.gpu.reset();
    EXPECT_EQ(test::error_of([&] { numbers.host(); }),
              "an array lies on a GPU that this process does not use any more");
  });
}

TEST(CudaNeighbours, MemoryIsOpenedOnceWhileThereIsALinkToItsOwner) {
  in_two_processes(Path::shm, [](Caller& here) {
    for (int i = 0; i < 10; ++i) {
      const auto numbers = here.run.client(here.owner_handle).read<&Owner::published>();
      EXPECT_TRUE(reads(*here.stream, *numbers, kLarge, 5));
    }
    EXPECT_EQ(here.gpu->opens(), 1);
    EXPECT_EQ(here.gpu->opened(), 1);
  });
}

TEST(CudaNeighbours, AKilledOwnerLeavesNothingOpenAndWhatIsReadStays) {
  in_two_processes(Path::shm, [](Caller& here) {
    auto numbers = here.owner->call<&Owner::made>(kLarge, 3);
    EXPECT_TRUE(reads(*here.stream, numbers, kLarge, 3));
    here.kill_other();
    EXPECT_TRUE(reads(*here.stream, numbers, kLarge, 3));
    numbers = {};
    Caller::wait_until([&] { return here.gpu->opened() == 0; });
  });
}

// The owner is here, and the reader is the process that is killed.
TEST(CudaNeighbours, AKilledReaderGivesEverythingBack) {
  in_two_processes(Path::shm, [](Caller& here) {
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(here.owner->call<&Owner::keep>(filled(*here.stream, kLarge, i), i));
    here.stream->wait();
    EXPECT_EQ(here.gpu->used(), 10 * kLarge * sizeof(int));
    here.kill_other();
    Caller::wait_until([&] {
      here.stream->wait();
      return here.gpu->used() == 0;
    });
  });
}

// A call that was made for a process with the GPU goes to one without it.
TEST(CudaNeighbours, ACallThatIsSentAgainToAProcessWithoutTheGpuHasTheBytes) {
  EXPECT_EQ(in_child([] {
              Program program("shares");
              program.add<Owner>({.name = "owner"}, std::string("GPU-another"));
              const OwnerProcess next(program, Path::shm, 2);
              Caller here(Path::shm);
              here.other.halt();
              auto kept = here.owner->async<&Owner::keep>(filled(*here.stream, kLarge, 6), 6);
              here.other.end();
              const PeerState up{.node = 0, .incarnation = 2, .endpoint = next.endpoint()};
              here.run.runtime().update(std::span(&up, 1));
              EXPECT_TRUE(kept.get());
              EXPECT_GT(here.gpu->copies(), 0);
              Caller::wait_until([&] {
                here.owner->call<&Owner::copies>();
                here.stream->wait();
                return here.gpu->used() == 0;
              });
              return !testing::Test::HasFailure();
            }),
            0);
}

}  // namespace
}  // namespace lp
