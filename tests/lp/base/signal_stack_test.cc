#include "lp/base/signal_stack.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "lp/base/scheduler.h"

namespace lp::internal {
namespace {

void* own_stack() {
  stack_t stack{};
  sigaltstack(nullptr, &stack);
  return (stack.ss_flags & SS_DISABLE) != 0 ? nullptr : stack.ss_sp;
}

TEST(SignalStack, EveryThreadHasOneOfItsOwn) {
  void* of_pool = nullptr;
  {
    Pool pool("pool");
    pool.run([&] { of_pool = own_stack(); });
  }
  void* of_thread = nullptr;
  void* of_other = nullptr;
  {
    const Thread thread = spawn("thread", [&] {
      of_thread = own_stack();
      const Thread other = spawn("other", [&] { of_other = own_stack(); });
    });
  }
  EXPECT_NE(of_pool, nullptr);
  EXPECT_NE(of_thread, nullptr);
  EXPECT_NE(of_other, nullptr);
  EXPECT_NE(of_thread, of_other);
}

TEST(SignalStack, GoesWithItsScopeAndLeavesAnothersAlone) {
  void* const before = own_stack();
  {
    const SignalStack first;
    void* const stack = own_stack();
    EXPECT_NE(stack, nullptr);
    { const SignalStack second; }
    EXPECT_EQ(own_stack(), stack);
  }
  EXPECT_EQ(own_stack(), before);
}

}  // namespace
}  // namespace lp::internal
