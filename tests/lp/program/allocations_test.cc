// What a call costs the heap: this binary counts every allocation of the process, both sides of a call together.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "lp/base/enums.h"
#include "lp/lp.h"
#include "lp/program/runtime.h"
#include "tests/lp/program/nobody.h"

namespace {
std::atomic<std::uint64_t> g_allocations = 0;
}

// The sanitizers have their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
[[gnu::noinline]] void* operator new(std::size_t size) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace lp {
namespace {

using std::chrono::seconds;

struct Small {
  std::uint64_t number = 0;
  std::array<float, 8> values{};
};

class Echo {
 public:
  Small answer(Small call) { return call; }
  int add(int a, int b) { return a + b; }
  using Remote = Methods<&Echo::answer, &Echo::add>;
};

// A service in one runtime, and its caller in another as two processes have them; or in the same.
class Allocations : public testing::TestWithParam<Path> {
 protected:
  Allocations() {
    server_.start(0, 1);
    EXPECT_TRUE(nobody_.ready.wait(after(seconds(10))));
    const std::vector<PeerState> peers{{.node = 0, .incarnation = 1, .endpoint = server_.endpoint()}};
    if (GetParam() != Path::direct) client_->update(peers);
  }
  static Program make_program() {
    Program program("allocations");
    program.add<Echo>({.name = "echo"});
    return program;
  }
  static Runtime::Options options() {
    Runtime::Options options{.run = "allocations"};
    options.network = GetParam() != Path::direct;
    options.path = GetParam();
    options.token = "secret";
    return options;
  }
  Client<Echo> echo() { return (GetParam() == Path::direct ? server_ : *client_).client(Handle<Echo>("echo")); }

  // Allocations of one f() in the steady state.
  template <class F>
  static double of(F f) {
    constexpr int kCalls = 2000;
    for (int i = 0; i < kCalls; ++i) f();
    const std::uint64_t before = g_allocations.load();
    for (int i = 0; i < kCalls; ++i) f();
    return static_cast<double>(g_allocations.load() - before) / kCalls;
  }

  const Program program_ = make_program();
  Nobody nobody_;
  Runtime server_{program_, options(), nobody_};
  std::unique_ptr<Runtime> client_ =
      GetParam() == Path::direct ? nullptr : std::make_unique<Runtime>(program_, options(), nobody_);
};

INSTANTIATE_TEST_SUITE_P(Paths, Allocations, testing::Values(Path::direct, Path::shm),
                         [](const auto& path) { return std::string(enum_name(path.param)); });

TEST_P(Allocations, OfACallThatWaits) {
  const Client<Echo> client = echo();
  std::uint64_t number = 0;
  const double count = of([&] { number += client.call<&Echo::answer>(Small{.number = 1}).number; });
  EXPECT_EQ(number, 4000u);
  if (GetParam() == Path::direct) {
    EXPECT_EQ(count, 0);
  } else {
    EXPECT_LE(count, 1);
  }
}

TEST_P(Allocations, OfCallsThatAreOnTheirWayTogether) {
  constexpr int kWindow = 64;
  const Client<Echo> client = echo();
  std::vector<Future<int>> futures(kWindow);
  int sum = 0;
  const double count = of([&] {
    for (Future<int>& one : futures) one = client.async<&Echo::add>(1, 2);
    for (Future<int>& one : futures) sum += one.get();
  });
  EXPECT_EQ(sum, 4000 * kWindow * 3);
  EXPECT_LE(count / kWindow, 1);
}

}  // namespace
}  // namespace lp
#endif
