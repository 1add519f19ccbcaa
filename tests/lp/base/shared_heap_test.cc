// The heap of big arrays: allocation, return, and sharing with other processes.

#include "lp/base/shared_heap.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "lp/base/array.h"
#include "lp/base/random.h"
#include "lp/base/scheduler.h"

namespace lp {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// One heap for all tests of the process, as for all nodes of a process.
SharedHeap& heap() { return SharedHeap::use(2048 * kMiB); }

// Acts like a link: it drops returned memory when somebody asks.
struct Lender final : SharedHeap::Lender {
  Lender() { heap().add(*this); }
  ~Lender() { heap().remove(*this); }
  Lender(const Lender&) = delete;
  Lender& operator=(const Lender&) = delete;
  std::vector<Buffer> back{};
  int asked = 0;
  void take_back(std::vector<Buffer>& returned) noexcept override {
    ++asked;
    returned.swap(back);
  }
};

class SharedHeapTest : public testing::Test {
 protected:
  SharedHeapTest() { heap(); }
};

std::size_t resident() {
  struct stat status {};
  EXPECT_EQ(fstat(heap().memory().descriptor().number(), &status), 0);
  return static_cast<std::size_t>(status.st_blocks) * 512;
}

TEST(Ranges, EqualASetOfSinglePositions) {
  constexpr std::size_t kMost = 60;
  Random random(7, "ranges");
  Ranges ranges;
  std::vector<bool> there(kMost);
  const auto before = [&](std::size_t most) { return static_cast<std::size_t>(random.below(most)); };
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t begin = before(kMost);
    const std::size_t end = begin + before(kMost - begin + 1);
    const auto first = there.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = there.begin() + static_cast<std::ptrdiff_t>(end);
    const auto known = static_cast<std::size_t>(std::count(first, last, true));
    if (known == 0 && i % 2 == 0) {
      ranges.add({.begin = begin, .end = end});
      std::fill(first, last, true);
    } else {
      ASSERT_EQ(ranges.remove({.begin = begin, .end = end}), known);
      std::fill(first, last, false);
    }
    ASSERT_EQ(ranges.count(), static_cast<std::size_t>(std::count(there.begin(), there.end(), true)));
  }
  ranges.remove({.begin = 0, .end = kMost});
  EXPECT_TRUE(ranges.empty());
}

TEST(Ranges, ThatTouchAreOne) {
  Ranges ranges;
  ranges.add({.begin = 10, .end = 20});
  ranges.add({.begin = 30, .end = 40});
  ranges.add({.begin = 20, .end = 30});
  EXPECT_EQ(ranges.count(), 30U);
  const Ranges::Range all = ranges.take_last();
  EXPECT_EQ(all.begin, 10U);
  EXPECT_EQ(all.end, 40U);
  EXPECT_TRUE(ranges.empty());
}

TEST(Ranges, AreTakenFromTheEnd) {
  Ranges ranges;
  ranges.add({.begin = 0, .end = 1});
  ranges.add({.begin = 5, .end = 8});
  EXPECT_EQ(ranges.take_last().begin, 5U);
  EXPECT_EQ(ranges.count(), 1U);
}

TEST_F(SharedHeapTest, BigArraysLiveThereAndSmallOnesDoNot) {
  const std::size_t before = heap().used();
  Array<float> big(100'000);
  const Array<float> small(100);
  EXPECT_TRUE(heap().contains(big.data()));
  EXPECT_FALSE(heap().contains(small.data()));
  EXPECT_GE(heap().used(), before + 400'000);
  big.edit()[99'999] = 5;
  const Array<float> copy = big;
  big = {};
  EXPECT_GT(heap().used(), before);
  EXPECT_EQ(copy[99'999], 5);
}

TEST_F(SharedHeapTest, AnotherMappingSeesWhatIsWritten) {
  Array<int> values(50'000);
  values.edit()[49'999] = 7;
  const SharedMemory other =
      SharedMemory::open(heap().memory().descriptor(), SharedMemory::Access::read, heap().memory().size());
  const auto* const seen = reinterpret_cast<const int*>(other.data() + heap().offset_of(values.data()));
  EXPECT_EQ(seen[49'999], 7);
}

TEST_F(SharedHeapTest, WhatIsGivenBackIsOneWholeAgain) {
  const std::size_t before = heap().used();
  Random random(1, "heap", 0);
  for (int round = 0; round < 20; ++round) {
    std::vector<Buffer> held;
    for (int i = 0; i < 100; ++i) {
      held.push_back(Buffer::uninitialized(SharedHeap::kSmallest + random.below(kMiB)));
      if (held.size() > 10 && random.below(2) == 0) held.erase(held.begin() + static_cast<int>(random.below(10)));
    }
  }
  EXPECT_EQ(heap().used(), before);
  const Buffer whole = Buffer::uninitialized(heap().memory().size() - SharedHeap::kFront - before);
  EXPECT_TRUE(before > 0 || heap().contains(whole.data()));
}

TEST_F(SharedHeapTest, RangesThatAreInUseNeverOverlap) {
  Random random(2, "heap", 0);
  std::vector<std::pair<Buffer, std::byte>> held;
  for (int i = 0; i < 2000; ++i) {
    if (held.size() < 50 || random.below(2) == 0) {
      Buffer buffer = Buffer::uninitialized(SharedHeap::kSmallest + random.below(64 << 10));
      const auto mark = static_cast<std::byte>(i);
      buffer.edit().front() = mark;
      buffer.edit().back() = mark;
      held.emplace_back(std::move(buffer), mark);
    } else {
      const std::size_t one = random.below(held.size());
      const auto& [buffer, mark] = held[one];
      ASSERT_EQ(buffer.bytes().front(), mark);
      ASSERT_EQ(buffer.bytes().back(), mark);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(one));
    }
  }
}

TEST_F(SharedHeapTest, WhatItsReadersHaveGivenBackIsEditedWhereItLies) {
  Array<float> values(100'000);
  const Array<float> reader = values;
  const float* at = values.data();
  {
    Lender lender;
    values.edit()[0] = 1;
    EXPECT_NE(values.data(), at) << "it is being read";
    EXPECT_EQ(reader[0], 0);
    at = values.data();
    lender.back.push_back(values.buffer());
    values.edit()[0] = 2;
    EXPECT_EQ(values.data(), at);
  }
  const Array<float> another = values;
  values.edit()[0] = 3;
  EXPECT_NE(values.data(), at);
  EXPECT_EQ(another[0], 2);
}

TEST_F(SharedHeapTest, WhatComesBackIsTheParentsNotItsChilds) {
  Lender lender;
  Array<float> values(100'000);
  lender.back.push_back(values.buffer());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    values.edit()[0] = 1;
    _exit(lender.asked);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  values.edit()[0] = 1;
  EXPECT_EQ(lender.asked, 1);
}

TEST_F(SharedHeapTest, OthersSeeWhatIsAnnouncedUntilItIsWithdrawn) {
  const SharedMemory theirs =
      SharedMemory::open(heap().memory().descriptor(), SharedMemory::Access::read, heap().memory().size());
  EXPECT_FALSE(SharedHeap::announces(theirs, 7));
  for (const std::uint64_t place : {7U, 8U, 7U}) heap().announce(place);
  EXPECT_TRUE(SharedHeap::announces(theirs, 7));
  heap().withdraw(7);
  EXPECT_FALSE(SharedHeap::announces(theirs, 7));
  EXPECT_TRUE(SharedHeap::announces(theirs, 8));
  EXPECT_NE(heap().owner(), 0U);
  EXPECT_EQ(SharedHeap::owner_of(theirs), heap().owner());
}

TEST_F(SharedHeapTest, AFullHeapIsNoError) {
  const Buffer all = Buffer::uninitialized(heap().memory().size() - SharedHeap::kFront - heap().used());
  Array<int> more(100'000);
  EXPECT_FALSE(heap().contains(more.data()));
  more.edit()[99'999] = 3;
  EXPECT_EQ(more[99'999], 3);
}

TEST_F(SharedHeapTest, TheSystemGetsBackWhatIsNoLongerUsed) {
  std::vector<Buffer> held;
  for (int i = 0; i < 20; ++i) {
    held.push_back(Buffer::uninitialized(64 * kMiB));
    for (std::size_t page = 0; page < 64 * kMiB; page += 4096) held.back().edit()[page] = std::byte{1};
  }
  EXPECT_GE(resident(), 1280 * kMiB);
  while (!held.empty()) held.pop_back();
  EXPECT_LE(resident(), 512 * kMiB);
}

TEST_F(SharedHeapTest, WhoIsAheadOfOthersKeepsLittleOfWhatItFrees) {
  {
    const SharedHeap::Sparing sparing;
    Buffer buffer = Buffer::zeroed(64 * kMiB);
    buffer = {};
    EXPECT_LE(resident(), heap().used() + 32 * kMiB);
  }
  Buffer buffer = Buffer::zeroed(64 * kMiB);
  buffer = {};
  EXPECT_GE(resident(), heap().used() + 64 * kMiB);
}

TEST_F(SharedHeapTest, WhoGetsAheadOfOthersGivesBackWhatItHasKept) {
  std::vector<Buffer> buffers;
  for (int i = 0; i < 4; ++i) buffers.push_back(Buffer::zeroed(32 * kMiB));
  buffers.clear();
  const Buffer used = Buffer::zeroed(32 * kMiB);
  ASSERT_GE(resident(), heap().used() + 64 * kMiB);
  const SharedHeap::Sparing sparing;
  EXPECT_LE(resident(), heap().used() + 32 * kMiB);
  EXPECT_TRUE(std::all_of(used.bytes().begin(), used.bytes().end(), [](std::byte one) { return one == std::byte(); }));
}

// The next buffer has the place of `first`, whose pages are gone, and not that of `second`, which has its pages.
TEST_F(SharedHeapTest, WhoGetsAheadOfOthersKnowsWhichFreeMemoryHasPages) {
  { const SharedHeap::Sparing gives_back_what_earlier_tests_kept; }
  Buffer first = Buffer::zeroed(32 * kMiB);
  Buffer second = Buffer::zeroed(32 * kMiB);
  {
    const SharedHeap::Sparing sparing;
    first = {};
  }
  second = {};
  const Buffer next = Buffer::zeroed(32 * kMiB);
  const SharedHeap::Sparing sparing;
  EXPECT_LE(resident(), heap().used() + 24 * kMiB);
}

TEST_F(SharedHeapTest, ThreadsGiveBackWhatOthersTook) {
  const std::size_t before = heap().used();
  {
    std::vector<std::vector<Buffer>> made(4);
    {
      std::vector<Thread> threads;
      for (auto& mine : made) {
        threads.push_back(spawn("takes", [&mine] {
          for (int i = 0; i < 100; ++i) mine.push_back(Buffer::zeroed(SharedHeap::kSmallest));
        }));
      }
    }
    std::vector<Thread> threads;
    for (auto& theirs : made) threads.push_back(spawn("gives", [&theirs] { theirs.clear(); }));
  }
  EXPECT_EQ(heap().used(), before);
}

TEST_F(SharedHeapTest, TheChildOfAForkChangesNothingOfItsParent) {
  Array<int> values(100'000);
  values.edit()[0] = 1;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    values.edit()[0] = 2;
    Array<int> more(100'000);  // the parent takes the same memory
    more.edit()[5] = 2;
    const bool right = values[0] == 2 && more[5] == 2;
    values = {};
    more = {};
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const Array<int> more(100'000);
  EXPECT_EQ(more[5], 0);
  EXPECT_EQ(values[0], 1);
}

}  // namespace
}  // namespace lp
