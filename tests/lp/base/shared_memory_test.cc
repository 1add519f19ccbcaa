// Memory that processes pass to each other. Wrong memory is refused, so that no process crashes later.

#include "lp/base/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lp/base/error.h"

namespace lp {
namespace {

constexpr std::size_t kSize = 1 << 20;

Descriptor unsealed(std::size_t size) {
  Descriptor descriptor(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(descriptor.number(), static_cast<off_t>(size)), 0);
  return descriptor;
}

TEST(SharedMemoryTest, TwoMappingsAreOneMemory) {
  const SharedMemory made = SharedMemory::create("test", kSize);
  const SharedMemory opened = SharedMemory::open(made.descriptor(), SharedMemory::Access::write, kSize);
  EXPECT_EQ(opened.size(), kSize);
  opened.data()[kSize - 1] = std::byte{3};
  EXPECT_EQ(made.data()[kSize - 1], std::byte{3});
}

TEST(SharedMemoryTest, WhatCouldBeCutOffIsRefused) {
  EXPECT_THROW(SharedMemory::open(unsealed(kSize), SharedMemory::Access::read, kSize), Error);
  EXPECT_THROW(SharedMemory::open(unsealed(0), SharedMemory::Access::read, kSize), Error);
}

TEST(SharedMemoryTest, WhatIsTooLargeOrNoMemoryIsRefused) {
  const SharedMemory made = SharedMemory::create("test", 2 * kSize);
  EXPECT_THROW(SharedMemory::open(made.descriptor(), SharedMemory::Access::read, kSize), Error);
  EXPECT_THROW(SharedMemory::open(Descriptor(dup(STDERR_FILENO)), SharedMemory::Access::read, kSize), Error);
  EXPECT_THROW(SharedMemory::open(Descriptor(), SharedMemory::Access::read, kSize), Error);
}

TEST(SharedMemoryTest, ForgottenPagesAreZeroAgain) {
  SharedMemory made = SharedMemory::create("test", kSize);
  made.data()[5] = made.data()[8192] = std::byte{1};
  made.forget(0, 4096);
  EXPECT_EQ(made.data()[5], std::byte{0});
  EXPECT_EQ(made.data()[8192], std::byte{1});
}

// Runs in a child, because limits cannot be raised again.
int ends_with(void (*body)()) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

void expect_refused() {
  try {
    SharedMemory::create("test", 64 * kSize);
  } catch (const Error&) {
    _exit(0);
  }
}

TEST(SharedMemoryTest, ALimitOfTheSystemIsAnErrorNotASignal) {
  EXPECT_EQ(ends_with([] {
              const rlimit small{.rlim_cur = kSize, .rlim_max = kSize};
              setrlimit(RLIMIT_FSIZE, &small);
              expect_refused();
            }),
            0);
#if !defined(LP_SANITIZED)  // sanitizers need descriptors and memory themselves
  EXPECT_EQ(ends_with([] {
              const rlimit none{.rlim_cur = 0, .rlim_max = 0};
              setrlimit(RLIMIT_NOFILE, &none);
              expect_refused();
            }),
            0);
  EXPECT_EQ(ends_with([] {
              const rlimit little{.rlim_cur = 32 * kSize, .rlim_max = 32 * kSize};
              setrlimit(RLIMIT_AS, &little);
              expect_refused();
            }),
            0);
#endif
}

}  // namespace
}  // namespace lp
