// The allocations of a call: this binary counts every allocation of the process, both sides of a call together. Those
// that libzmq makes by itself are counted apart, and may find no memory.

#include <gtest/gtest.h>
#include <link.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "lp/base/enums.h"
#include "lp/lp.h"
#include "lp/program/runtime.h"
#include "tests/lp/program/nobody.h"

// The sanitizers have their own.
#if !defined(LP_SANITIZED)
namespace {

struct Allocations {
  std::atomic<std::uint64_t> own = 0;
  std::atomic<std::uint64_t> zeromq = 0;
  std::atomic<int> refused = 0;  // libzmq's next ones of at least kLarge bytes that find no memory
};
constexpr std::size_t kLarge = 100'000;
Allocations g_allocations;

// The address range of libzmq's code.
struct Code {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};
int find_zeromq(dl_phdr_info* library, std::size_t, void* found) {
  if (std::strstr(library->dlpi_name, "libzmq") == nullptr) return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& part = library->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    *static_cast<Code*>(found) = {library->dlpi_addr + part.p_vaddr, library->dlpi_addr + part.p_vaddr + part.p_memsz};
  }
  return 1;
}
const Code g_zeromq = [] {
  Code found;
  dl_iterate_phdr(find_zeromq, &found);
  return found;
}();
bool is_zeromq(const void* caller) {
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  return at >= g_zeromq.begin && at < g_zeromq.end;
}

}  // namespace

extern "C" void* __libc_malloc(std::size_t size);
extern "C" [[gnu::noinline]] void* malloc(std::size_t size) {
  if (is_zeromq(__builtin_return_address(0))) {
    g_allocations.zeromq.fetch_add(1, std::memory_order_relaxed);
    if (size >= kLarge && g_allocations.refused.load() > 0 && g_allocations.refused.fetch_sub(1) > 0) {
      errno = ENOMEM;
      return nullptr;
    }
  }
  return __libc_malloc(size);
}
namespace {
void* allocate(std::size_t size, const void* caller) {
  (is_zeromq(caller) ? g_allocations.zeromq : g_allocations.own).fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size == 0 ? 1 : size);
}
}  // namespace
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = allocate(size, __builtin_return_address(0))) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, __builtin_return_address(0));
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
  Array<float> fill(const Array<float>& values) { return values; }
  using Remote = Methods<&Echo::answer, &Echo::add, idempotent<&Echo::fill>>;
};

// A service in one runtime, and its caller in another like two processes; or both in the same runtime.
class AllocationsOfACall : public testing::TestWithParam<Path> {
 protected:
  AllocationsOfACall() {
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
    Runtime::Options options{.run = {.name = "allocations"}};
    options.network = GetParam() != Path::direct;
    options.run.path = GetParam();
    options.run.token = "secret";
    return options;
  }
  Client<Echo> echo() { return (GetParam() == Path::direct ? server_ : *client_).client(Handle<Echo>("echo")); }

  // Expects at most one allocation for each call in the steady state, and none for direct calls; f makes `calls` calls.
  // libzmq makes one more for each message that it is given.
  template <class F>
  static void expect_few(int calls, F f) {
    constexpr int kTimes = 2000;
    for (int i = 0; i < kTimes; ++i) f();
    const std::uint64_t own = g_allocations.own.load();
    const std::uint64_t zeromq = g_allocations.zeromq.load();
    for (int i = 0; i < kTimes; ++i) f();
    const double all = static_cast<double>(kTimes) * calls;
    const bool direct = GetParam() == Path::direct && calls == 1;
    EXPECT_LE(static_cast<double>(g_allocations.own.load() - own) / all, direct ? 0 : 1);
    EXPECT_LE(static_cast<double>(g_allocations.zeromq.load() - zeromq) / all, GetParam() == Path::tcp ? 2.1 : 0);
  }

  const Program program_ = make_program();
  Nobody nobody_;
  Runtime server_{program_, options(), nobody_};
  std::unique_ptr<Runtime> client_ =
      GetParam() == Path::direct ? nullptr : std::make_unique<Runtime>(program_, options(), nobody_);
};

INSTANTIATE_TEST_SUITE_P(Paths, AllocationsOfACall, testing::Values(Path::direct, Path::shm, Path::tcp),
                         [](const auto& path) { return std::string(enum_name(path.param)); });

TEST_P(AllocationsOfACall, ThatWaits) {
  const Client<Echo> client = echo();
  std::uint64_t number = 0;
  expect_few(1, [&] { number += client.call<&Echo::answer>(Small{.number = 1}).number; });
  EXPECT_EQ(number, 4000u);
}

TEST_P(AllocationsOfACall, ThatIsOnItsWayWithOthers) {
  constexpr int kWindow = 64;
  const Client<Echo> client = echo();
  std::vector<Future<int>> futures(kWindow);
  int sum = 0;
  expect_few(kWindow, [&] {
    for (Future<int>& one : futures) one = client.async<&Echo::add>(1, 2);
    for (Future<int>& one : futures) sum += one.get();
  });
  EXPECT_EQ(sum, 4000 * kWindow * 3);
}

// libzmq then closes the connection, and reports no reason.
class WithoutMemory : public AllocationsOfACall {};

INSTANTIATE_TEST_SUITE_P(ByTcp, WithoutMemory, testing::Values(Path::tcp),
                         [](const auto& path) { return std::string(enum_name(path.param)); });

// The first to find none is the callee, which reads the arguments, and the second is the caller, with the reply.
TEST_P(WithoutMemory, ACallIsMadeAgain) {
  const Client<Echo> client = echo();
  EXPECT_EQ(client.call<&Echo::add>(1, 2), 3);
  g_allocations.refused = 1;
  EXPECT_EQ(client.call<&Echo::fill>(Array<float>(kLarge)).size(), kLarge);
  EXPECT_LE(g_allocations.refused.load(), 0);
}

TEST_P(WithoutMemory, ACallFailsWithTheCause) {
  const Client<Echo> client = echo();
  g_allocations.refused = 1000;
  try {
    client.call<&Echo::fill>(Array<float>(kLarge));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::disconnected) << error.what();
    EXPECT_NE(error.text().find("no memory for a message"), std::string::npos) << error.text();
  }
  g_allocations.refused = 0;
  EXPECT_EQ(client.call<&Echo::fill>(Array<float>(kLarge)).size(), kLarge);  // the next call has a connection again
}

}  // namespace
}  // namespace lp
#endif
