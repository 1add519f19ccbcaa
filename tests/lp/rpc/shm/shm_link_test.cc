// When a link rings the bell of its own side: for messages that came while nobody was to ring for them.

#include "lp/rpc/shm/shm_link.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "lp/rpc/shm/doorbell.h"

namespace lp::rpc {
namespace {

class ShmLinkBell : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kHere = 7;

  ShmLinkBell() {
    SharedMemory lanes = SharedMemory::create("lanes", sizeof(RingPair));
    pair_ = ::new (lanes.data()) RingPair;
    neighbour_writer_.emplace(pair_->to_dialer, pair_->ring_to_dialer);
    auto bell = std::make_shared<SharedMemory>(SharedMemory::create("bell", sizeof(Doorbell)));
    bell_ = ::new (bell->data()) Doorbell;
    auto neighbour = std::make_shared<Neighbour>(
        Neighbour{SharedMemory::create("bell", sizeof(Doorbell)), SharedMemory::create("heap", 1 << 20)});
    ::new (neighbour->bell.data()) Doorbell;
    link_.emplace(pool_, ShmLink::Side::dialer, std::move(lanes), std::move(neighbour), std::move(bell), kHere, 3);
  }

  void write(std::size_t size) {
    const std::vector<std::byte> bytes(size);
    neighbour_writer_->put(bytes.data(), size);
    neighbour_writer_->publish();
  }
  // Takes the mark.
  bool was_rung() {
    std::uint32_t lane = 0;
    return bell_->take(lane) && lane == kHere;
  }

  Pool pool_{"test"};
  RingPair* pair_ = nullptr;
  Doorbell* bell_ = nullptr;
  std::optional<RingWriter> neighbour_writer_;
  std::optional<ShmLink> link_;
};

TEST_F(ShmLinkBell, AThreadThatEndsReadingLeavesTheRestToTheReceiverIfOthersAwaitIt) {
  ASSERT_NE(link_->begin_reading(), nullptr);
  link_->end_reading();
  EXPECT_FALSE(was_rung());
  link_->expect();
  ASSERT_NE(link_->begin_reading(), nullptr);
  write(100);
  link_->end_reading();
  EXPECT_TRUE(was_rung());
}

// The neighbour does not ring while a thread reads, and may write no more because the ring is full.
TEST_F(ShmLinkBell, AThreadThatEndsReadingLeavesAFullRingToTheReceiverThoughNobodyAwaitsIt) {
  ASSERT_NE(link_->begin_reading(), nullptr);
  write(RingPair::kRing / 2 - 1);
  link_->end_reading();
  EXPECT_FALSE(was_rung());
  ASSERT_NE(link_->begin_reading(), nullptr);
  write(1);
  link_->end_reading();
  EXPECT_TRUE(was_rung());
}

TEST_F(ShmLinkBell, WhatHasComeIsRungForWhenItIsAwaited) {
  ASSERT_NE(link_->begin_reading(), nullptr);
  link_->end_reading();
  link_->expect();
  EXPECT_FALSE(was_rung()) << "nothing has come";
  link_->expect_no_more();
  ASSERT_NE(link_->begin_reading(), nullptr);
  link_->end_reading();
  write(100);
  EXPECT_FALSE(was_rung());
  link_->expect();
  EXPECT_TRUE(was_rung());
}

}  // namespace
}  // namespace lp::rpc
