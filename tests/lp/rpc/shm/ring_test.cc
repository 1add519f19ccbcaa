// One direction of a link through shared memory: bytes, room, and wake-ups.

#include "lp/rpc/shm/ring.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "lp/base/error.h"

namespace lp::rpc {
namespace {

constexpr std::size_t kSmallRing = 1024;

class LaneTest : public ::testing::Test {
 protected:
  // Writes `size` bytes that count on; reads them and checks that they do.
  void put(std::size_t size) {
    std::vector<unsigned char> bytes(size);
    std::iota(bytes.begin(), bytes.end(), next_in_);
    next_in_ = static_cast<unsigned char>(next_in_ + size);
    writer_.put(bytes.data(), size);
    writer_.publish();
  }
  void get(std::size_t size) {
    ASSERT_GE(reader_.available(size), size);
    std::vector<unsigned char> bytes(size);
    reader_.get(bytes.data(), size);
    for (const unsigned char byte : bytes) ASSERT_EQ(byte, next_out_++);
  }

  ShmRing lane_;
  std::array<std::byte, kSmallRing> ring_{};
  RingWriter writer_{lane_, ring_};
  RingReader reader_{lane_, ring_};

 private:
  unsigned char next_in_ = 0;
  unsigned char next_out_ = 0;
};

TEST_F(LaneTest, BytesComeInOrderAroundTheEnd) {
  for (std::size_t size = 1; size < 700; size += 13) {
    ASSERT_GE(writer_.room(), size);
    put(size);
    get(size);
    reader_.release();
  }
  EXPECT_EQ(reader_.available(1), 0u);
}

TEST_F(LaneTest, WhatWasReadMakesPlaceAtTheBeginning) {
  for (int i = 0; i < 100; ++i) {
    writer_.start_over();
    for (const std::size_t size : {300u, 200u, 400u}) put(size);
    get(300);
    if (i % 3 == 0) writer_.start_over();  // not while something is unread
    put(50);
    for (const std::size_t size : {200u, 400u, 50u}) get(size);
    reader_.release();
    EXPECT_EQ(writer_.room(), kSmallRing);
  }
  EXPECT_GT(lane_.origin.load(), 0u);
  lane_.origin = 12345678901;  // nonsense
  put(10);
  EXPECT_EQ(reader_.available(10), 10u);
  std::array<char, 10> bytes{};
  reader_.get(bytes.data(), bytes.size());
}

TEST_F(LaneTest, AWriterThatOutrunsItsReaderIsRungWhenThereIsRoom) {
  put(writer_.room());
  EXPECT_EQ(writer_.room(), 0u);
  EXPECT_TRUE(writer_.wait_for_room());
  get(100);
  EXPECT_FALSE(reader_.release()) << "a little room is not worth a ring";
  get(kSmallRing / 2);
  EXPECT_TRUE(reader_.release());
  EXPECT_FALSE(reader_.release()) << "rung once";
  EXPECT_EQ(writer_.room(), kSmallRing / 2 + 100);
}

TEST_F(LaneTest, AWriterThatFindsRoomAfterAllDoesNotWait) {
  put(writer_.room());
  get(kSmallRing);
  reader_.release();
  EXPECT_FALSE(writer_.wait_for_room());
}

TEST_F(LaneTest, AnImpossiblePositionOfTheWriterIsRefused) {
  lane_.written = kSmallRing + 1;
  EXPECT_THROW(reader_.available(1), Error);
  lane_.written = ~std::uint64_t{0};
  EXPECT_THROW(reader_.available(1), Error);
}

TEST_F(LaneTest, AnImpossiblePositionOfTheReaderMakesNoRoom) {
  put(600);
  lane_.read = 601;  // more than there was
  EXPECT_EQ(writer_.room(), 0u);
  EXPECT_TRUE(writer_.wait_for_room());
  lane_.read = ~std::uint64_t{0} - 5;
  EXPECT_LE(writer_.room(), kSmallRing);
}

TEST_F(LaneTest, WhoIsWoken) {
  EXPECT_TRUE(writer_.wake()) << "at first the bell is rung";

  lane_.reader = Event::kEmpty;  // a thread reads
  EXPECT_FALSE(writer_.wake());
  EXPECT_EQ(lane_.reader.load(), Event::kSet);
  EXPECT_FALSE(writer_.wake());

  lane_.reader = ShmRing::kLater;  // nobody waits
  put(100);
  EXPECT_FALSE(writer_.wake());
  EXPECT_TRUE(writer_.wake(/*soon=*/true));
  put(500);
  EXPECT_TRUE(writer_.wake()) << "it fills";

  lane_.reader = 99;  // nonsense
  EXPECT_FALSE(writer_.wake());
}

TEST_F(LaneTest, AThreadThatWaitsForTheLaneIsWoken) {
  lane_.reader = Event::kEmpty;
  const Thread writes = spawn("writes", [this] {
    put(10);
    EXPECT_FALSE(writer_.wake());
  });
  Event event(&lane_.reader);
  while (reader_.available(1) == 0) ASSERT_TRUE(event.wait(after(std::chrono::seconds(20))));
  get(10);
}

// Each side in a thread of its own, with hardly any room.
TEST_F(LaneTest, NothingIsLostBetweenTwoThreads) {
  constexpr std::size_t kBytes = 1 << 20;
  Event room, bytes;
  lane_.reader = ShmRing::kRing;
  const Thread writes = spawn("writes", [&] {
    for (std::size_t left = kBytes; left > 0;) {
      if (const std::size_t size = std::min({left, writer_.room(), std::size_t{700}}); size > 0) {
        put(size);
        left -= size;
        if (writer_.wake()) bytes.set();
      } else if (writer_.wait_for_room()) {
        ASSERT_TRUE(room.wait(after(std::chrono::seconds(20)))) << "nobody rang";
      }
    }
  });
  for (std::size_t left = kBytes; left > 0;) {
    const std::size_t size = std::min(left, reader_.available(1));
    if (size == 0) {
      ASSERT_TRUE(bytes.wait(after(std::chrono::seconds(20)))) << "nobody rang";
      continue;
    }
    get(size);
    left -= size;
    if (reader_.release()) room.set();
  }
}

}  // namespace
}  // namespace lp::rpc
