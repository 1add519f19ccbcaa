// A launcher that finds no memory while its run goes on: whatever it needed the memory for, the run ends, with that as
// its cause. This binary's allocations may fail.

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "launchers/test_run.h"
#include "tests/launchers/programs_for_test.h"

// The sanitizers have their own.
#if !defined(LP_SANITIZED)
namespace {

// Counts the allocations of the launcher's loop. The one with the number g_refused fails.
std::atomic<bool> g_counts = false;
std::atomic<int> g_counted = 0;
std::atomic<int> g_refused = 0;

bool is_refused() {
  if (!g_counts.load(std::memory_order_relaxed)) return false;
  std::array<char, 16> name{};
  prctl(PR_GET_NAME, name.data());
  return std::strcmp(name.data(), "run") == 0 && ++g_counted == g_refused.load();
}
void* allocate_or_refuse(std::size_t size) { return is_refused() ? nullptr : std::malloc(size == 0 ? 1 : size); }

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = allocate_or_refuse(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate_or_refuse(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace lp::test {
namespace {

constexpr auto kLongest = std::chrono::seconds(20);

// Makes a run whose nodes wait, until they are ready, and stops it. Returns what became of it.
RunResult run_and_stop(int refused) {
  g_counted = 0;
  g_refused = refused;
  g_counts = true;
  lp::Run run(make_counting({.mode = "waits"}), {});
  static_cast<void>(run.wait_ready(kLongest));  // never, if it needed that memory
  g_counts = false;
  run.stop("the test is over");
  EXPECT_TRUE(run.wait_for(kLongest)) << "allocation " << refused;
  return run.wait();
}

TEST(LauncherMemory, TheRunEndsWhicheverAllocationFails) {
  EXPECT_TRUE(run_and_stop(0).success);
  const int all = g_counted.load();
  EXPECT_GT(all, 10);
  int failed = 0;
  for (int refused = 1; refused <= all; ++refused) {
    const RunResult result = run_and_stop(refused);
    if (result.success) continue;  // it could do without
    ++failed;
    ASSERT_NE(result.cause.text().find("out of memory"), std::string::npos) << result.cause.text();
  }
  EXPECT_GT(failed, all / 2);
}

}  // namespace
}  // namespace lp::test
#endif
