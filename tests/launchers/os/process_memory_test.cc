#include "launchers/os/process_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "lp/base/array.h"
#include "lp/base/shared_heap.h"

namespace lp::launch {
namespace {

TEST(Memory, OfAProcessIsAlsoWhatItSharesOfItsOwn) {
  SharedHeap::use();
  const std::uint64_t before = own_memory_of(getpid());
  const Buffer buffer = Buffer::zeroed(std::size_t{64} << 20);
  EXPECT_GE(own_memory_of(getpid()), before + buffer.size());
#if !defined(__SANITIZE_THREAD__)  // that sanitizer keeps several bytes for each
  EXPECT_LT(own_memory_of(getpid()), before + 2 * buffer.size());
#endif
}

}  // namespace
}  // namespace lp::launch
