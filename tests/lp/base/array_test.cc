#include "lp/base/array.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <numeric>
#include <vector>

#include "lp/base/scheduler.h"

namespace lp {
namespace {

TEST(Array, StartsAsZerosAtAnAlignedAddress) {
  const Array<float> array(1000);
  EXPECT_EQ(array.size(), 1000u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 64, 0u);
  EXPECT_EQ(std::accumulate(array.begin(), array.end(), 0.0f), 0.0f);
}

TEST(Array, ACopySharesUntilOneIsEdited) {
  const std::vector<int> values{1, 2, 3};
  Array<int> a = Array<int>::copy_of(values);
  const Array<int> b = a;
  EXPECT_EQ(a.data(), b.data());
  a.edit()[0] = 9;
  EXPECT_NE(a.data(), b.data());
  EXPECT_EQ(a[0], 9);
  EXPECT_EQ(a[2], 3);
  EXPECT_EQ(b[0], 1);
  EXPECT_FALSE(a == b);
}

TEST(Array, BytesOfAnotherOwnerAreNotItsOwn) {
  const std::vector<std::byte> bytes(10);
  EXPECT_TRUE(Buffer().owned());
  EXPECT_TRUE(Buffer::copy_of(bytes).slice(3, 4).owned());
  EXPECT_FALSE(Buffer::wrap(bytes.data(), bytes.size(), [] {}).slice(3, 4).owned());
}

TEST(Array, EditingTheOnlyOwnerDoesNotCopy) {
  Array<int> a(10);
  const int* before = a.data();
  {
    const Array<int> dropped = a;
    EXPECT_FALSE(a.buffer().edits_in_place());
  }
  EXPECT_TRUE(a.buffer().edits_in_place());
  a.edit()[3] = 1;
  EXPECT_EQ(a.data(), before);
}

TEST(Array, OfSizeZero) {
  Array<double> a(0);
  const Array<double> b;
  EXPECT_TRUE(a.empty());
  EXPECT_TRUE(a == b);
  EXPECT_TRUE(a.edit().empty());
  EXPECT_TRUE(Array<double>::copy_of({}).empty());
  EXPECT_TRUE(Array<double>::uninitialized(0).span().empty());
}

TEST(Array, OfMoreThanAnyMachineHasIsBadAlloc) {
  EXPECT_THROW(Array<double>(SIZE_MAX), std::bad_alloc);
  EXPECT_THROW(Array<double>(SIZE_MAX / 8 + 2), std::bad_alloc);
  EXPECT_THROW(Buffer::uninitialized(SIZE_MAX - 7), std::bad_alloc);
}

TEST(Array, EveryThreadMayCopyEditAndDropItsOwn) {
  Array<int> shared(1000);
  std::vector<Thread> threads;
  for (int i = 1; i <= 4; ++i) {
    threads.push_back(spawn("editor", [i, mine = shared] {
      for (int round = 0; round < 200; ++round) {
        Array<int> copy = mine;
        copy.edit()[0] = i;
        copy.edit()[1] = mine[0];
        EXPECT_EQ(copy[0], i);
        EXPECT_EQ(copy[1], 0);
      }
    }));
  }
  for (Thread& thread : threads) thread.join();
  threads.clear();
  const int* before = shared.data();
  shared.edit()[0] = 5;
  EXPECT_EQ(shared.data(), before);
}

TEST(Buffer, ReleasesForeignBytesOnceAndNeverWritesThem) {
  std::vector<std::byte> foreign(100, std::byte{7});
  int released = 0;
  {
    Buffer a = Buffer::wrap(foreign.data(), foreign.size(), [&released] { ++released; });
    Buffer b = a;
    EXPECT_EQ(a.data(), foreign.data());
    a.edit()[0] = std::byte{1};
    EXPECT_NE(a.data(), foreign.data());
    EXPECT_EQ(foreign[0], std::byte{7});
    EXPECT_EQ(released, 0);
    b = Buffer();
    EXPECT_EQ(released, 1);
  }
  EXPECT_EQ(released, 1);
}

TEST(Buffer, ASliceKeepsTheWholeAlive) {
  Buffer slice;
  {
    Buffer whole = Buffer::zeroed(10);
    whole.edit()[4] = std::byte{4};
    slice = whole.slice(4, 2);
    EXPECT_TRUE(whole.slice(10, 0).empty());
  }
  EXPECT_EQ(slice.size(), 2u);
  EXPECT_EQ(slice.data()[0], std::byte{4});
  slice.edit()[1] = std::byte{5};
  EXPECT_EQ(slice.data()[1], std::byte{5});
}

TEST(Buffer, MovedFromIsEmptyAndSelfAssignmentKeeps) {
  Buffer a = Buffer::zeroed(10);
  Buffer& same = a;
  a = same;
  EXPECT_EQ(a.size(), 10u);
  const Buffer b = std::move(a);
  EXPECT_EQ(b.size(), 10u);
  EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move): a moved-from Buffer is empty
}

}  // namespace
}  // namespace lp
