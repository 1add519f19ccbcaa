// Memory that calls return and take again.

#include "lp/base/recycle.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "lp/base/scheduler.h"

namespace lp {
namespace {

TEST(Recycle, PiecesInUseNeverOverlap) {
  std::vector<std::pair<unsigned char*, std::size_t>> taken;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t size = 1; size <= kLargestRecycled + 100; size += 37) {
      for (int i = 0; i < 40; ++i) {
        taken.emplace_back(static_cast<unsigned char*>(take_memory(size)), size);
        std::memset(taken.back().first, static_cast<int>(taken.size() % 251), size);
      }
    }
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const auto [memory, size] = taken[i];
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignof(std::max_align_t), 0u);
      ASSERT_EQ(memory[0], (i + 1) % 251);
      ASSERT_EQ(memory[size - 1], (i + 1) % 251);
    }
    for (const auto& [memory, size] : taken) give_memory(memory, size);
    taken.clear();
  }
}

// One thread takes, another returns: like the caller and the receiver of replies.
TEST(Recycle, ThreadsThatOnlyTakeOrOnlyGiveAreFine) {
  constexpr int kPieces = 1000;
  std::vector<void*> pieces(kPieces);
  for (int round = 0; round < 20; ++round) {
    {
      const Thread taker = spawn("taker", [&] {
        for (void*& piece : pieces) std::memset(piece = take_memory(200), round, 200);
      });
    }
    EXPECT_EQ(std::set<void*>(pieces.begin(), pieces.end()).size(), pieces.size());
    const Thread giver = spawn("giver", [&] {
      for (void* piece : pieces) give_memory(piece, 200);
    });
  }
}

class Small : public Recycled {
 public:
  explicit Small(int value) : value_(value) {}
  int value() const { return value_; }

 private:
  int value_;
};
class alignas(128) Wide : public Recycled {
 public:
  int value = 5;
};

TEST(Recycle, ObjectsOfClassesThatAreRecycled) {
  for (int i = 0; i < 100; ++i) {
    const auto small = std::make_unique<Small>(i);
    const auto wide = std::make_unique<Wide>();
    EXPECT_EQ(small->value(), i);
    EXPECT_EQ(wide->value, 5);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide.get()) % 128, 0u);
  }
}

// A thread's own objects may be destroyed after its memory for recycling.
TEST(Recycle, AThreadThatEndsMayStillGiveAndTake) {
  struct AtEnd {
    void* memory = nullptr;
    ~AtEnd() {
      if (memory == nullptr) return;
      give_memory(memory, 64);
      give_memory(take_memory(64), 64);
    }
  };
  const Thread thread = spawn("ends", [] {
    thread_local AtEnd at_end;  // made before the thread takes anything, so destroyed after
    at_end.memory = take_memory(64);
    give_memory(take_memory(100), 100);
  });
}

}  // namespace
}  // namespace lp
