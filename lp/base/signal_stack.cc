#include "lp/base/signal_stack.h"

#include <signal.h>
#include <sys/mman.h>

#include <cstddef>

namespace lp::internal {
namespace {
constexpr std::size_t kSize = std::size_t{1} << 16;
}  // namespace

SignalStack::SignalStack() noexcept {
  stack_t stack{};
  if (sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_DISABLE) == 0) return;
  constexpr int kKind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void* const memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, kKind, -1, 0);
  if (memory == MAP_FAILED) return;
  stack.ss_flags = 0;
  stack.ss_sp = memory;
  stack.ss_size = kSize;
  if (sigaltstack(&stack, nullptr) == 0) {
    memory_ = memory;
  } else {
    munmap(memory, kSize);
  }
}

SignalStack::~SignalStack() {
  if (memory_ == nullptr) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  munmap(memory_, kSize);
}

}  // namespace lp::internal
