// Messages in a lane: whole, in pieces, with arrays on the heap, and malformed.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/shared_heap.h"
#include "lp/rpc/link/link.h"
#include "lp/rpc/shm/shm_reader.h"
#include "lp/rpc/shm/shm_writer.h"

namespace lp::rpc {
namespace {

constexpr std::size_t kRing = 4096;
constexpr std::size_t kHeap = std::size_t{256} << 20;

Buffer filled(std::size_t size, int seed) {
  Buffer buffer = Buffer::uninitialized(size);
  for (std::size_t i = 0; i < size; ++i) buffer.edit()[i] = static_cast<std::byte>(i * 7 + static_cast<unsigned>(seed));
  return buffer;
}
bool equal(const Buffer& a, const Buffer& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

class ShmMessage : public ::testing::Test {
 protected:
  // The arriving messages, until there are no more; the writer goes on whenever there is room.
  std::vector<Message> arrived() {
    std::vector<Message> all;
    for (;;) {
      Message message;
      const bool got = reader_.next(message);
      if (got) all.push_back(std::move(message));
      const bool room = reader_.release();
      if (room) {
        std::vector<Buffer> written;
        writer_.go_on(written);
      }
      if (!got && !room) return all;
    }
  }
  void write(const void* bytes, std::size_t size) {
    raw_.put(bytes, size);
    raw_.publish();
  }
  template <class... Parts>
  void expect_malformed(const Parts&... parts) {
    (write(&parts, sizeof parts), ...);
    Message message;
    EXPECT_THROW(reader_.next(message), Error);
  }

  SharedHeap& heap_ = SharedHeap::use(kHeap);
  ShmRing lane_;
  std::array<std::byte, kRing> ring_{};
  ShmWriter writer_{RingWriter(lane_, ring_)};
  RingWriter raw_{lane_, ring_};
  std::vector<ArrayHead> mapped_;
  ShmReader reader_{RingReader(lane_, ring_), kHeap, [this](const ArrayHead& array) {
                      mapped_.push_back(array);
                      return Buffer::wrap(heap_.memory().data() + array.offset, array.size, [] {});
                    }};
};

TEST_F(ShmMessage, SmallOnesComeInOrder) {
  for (int i = 0; i < 100; ++i) {
    Message message{.body = filled(static_cast<std::size_t>(i), i), .arrays = {filled(100, i), Buffer()}};
    writer_.send(message);
    const std::vector<Message> got = arrived();
    ASSERT_EQ(got.size(), 1u);
    EXPECT_TRUE(equal(got[0].body, message.body));
    ASSERT_EQ(got[0].arrays.size(), 2u);
    EXPECT_TRUE(equal(got[0].arrays[0], message.arrays[0]));
    EXPECT_TRUE(got[0].arrays[1].empty());
  }
}

TEST_F(ShmMessage, OneThatIsLargerThanTheRingComesInPiecesAndOthersWaitBehindIt) {
  std::vector<Message> sent;
  for (int i = 0; i < 20; ++i) {
    sent.push_back({.body = filled(i % 3 == 0 ? 10'000 : 10, i), .arrays = {filled(i % 5 == 0 ? 20'000 : 0, i)}});
    writer_.send(sent.back());
  }
  EXPECT_GT(writer_.queued().messages, 0u);
  const std::vector<Message> got = arrived();
  ASSERT_EQ(got.size(), sent.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(equal(got[i].body, sent[i].body)) << i;
    EXPECT_TRUE(equal(got[i].arrays[0], sent[i].arrays[0])) << i;
  }
  EXPECT_EQ(writer_.queued().messages, 0u);
}

TEST_F(ShmMessage, ABigArrayStaysWhereItIsUntilItIsGivenBack) {
  const std::size_t before = heap_.used();
  {
    Message message{.body = filled(10, 1), .arrays = {filled(1 << 20, 2)}};
    const std::byte* const place = message.arrays[0].data();
    writer_.send(message);
    message = {};
    EXPECT_GT(heap_.used(), before) << "the writer keeps it";
    const std::vector<Message> got = arrived();
    EXPECT_EQ(got.at(0).arrays.at(0).data(), place);
    EXPECT_TRUE(equal(got[0].arrays[0], filled(1 << 20, 2)));
  }
  writer_.take_back(mapped_.at(0).lease);
  EXPECT_EQ(heap_.used(), before);
}

TEST_F(ShmMessage, WhenTheHeapIsFullArraysGoThroughTheLane) {
  std::vector<Buffer> all;  // in pieces: what other tests left divides the heap
  for (std::size_t before = ~std::size_t{0}; before != heap_.used();) {
    before = heap_.used();
    all.push_back(Buffer::uninitialized(1 << 20));
  }
  const Message message{.body = filled(10, 1), .arrays = {filled(1 << 20, 2)}};
  writer_.send(message);
  const std::vector<Message> got = arrived();
  EXPECT_TRUE(mapped_.empty());
  EXPECT_TRUE(equal(got.at(0).arrays.at(0), message.arrays[0]));
}

TEST_F(ShmMessage, WhatAReaderThatDiedStillHadIsGivenBackWithTheWriter) {
  const std::size_t before = heap_.used();
  {
    ShmWriter dying{RingWriter(lane_, ring_)};
    for (int i = 0; i < 10; ++i) dying.send({.body = filled(10, 1), .arrays = {filled(1 << 20, 2)}});
    EXPECT_GE(heap_.used(), before + (10 << 20));
  }
  EXPECT_EQ(heap_.used(), before);
}

TEST_F(ShmMessage, LeasesThatThereAreNotAreRefused) {
  EXPECT_THROW(writer_.take_back(0), Error);
  writer_.send({.body = filled(10, 1), .arrays = {filled(1 << 20, 2)}});
  writer_.take_back(0);
  EXPECT_THROW(writer_.take_back(0), Error) << "given back twice";
  EXPECT_THROW(writer_.take_back(~std::uint64_t{0}), Error);
}

TEST_F(ShmMessage, AHalfMessageWaitsForItsRest) {
  const MessageHead head{.body = 4, .arrays = 0};
  write(&head, 7);
  EXPECT_TRUE(arrived().empty());
  write(reinterpret_cast<const std::byte*>(&head) + 7, sizeof head - 7);
  write("ab", 2);
  EXPECT_TRUE(arrived().empty());
  write("cd", 2);
  const std::vector<Message> got = arrived();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(std::memcmp(got[0].body.data(), "abcd", 4), 0);
}

TEST_F(ShmMessage, TooManyArraysAreRefused) { expect_malformed(MessageHead{.body = 0, .arrays = ~std::uint64_t{0}}); }
TEST_F(ShmMessage, ABodyOfTooManyBytesIsRefused) {
  expect_malformed(MessageHead{.body = std::uint64_t{1} << 60, .arrays = 0});
}
TEST_F(ShmMessage, AnArrayOfTooManyBytesIsRefused) {
  expect_malformed(MessageHead{.body = 0, .arrays = 1},
                   ArrayHead{.size = std::uint64_t{1} << 60, .offset = ArrayHead::kInline, .lease = 0});
}
TEST_F(ShmMessage, AnArrayBeyondTheHeapIsRefused) {
  expect_malformed(MessageHead{.body = 0, .arrays = 1}, ArrayHead{.size = 4096, .offset = kHeap - 4095, .lease = 0});
}
TEST_F(ShmMessage, AnArrayWhoseEndOverflowsIsRefused) {
  expect_malformed(MessageHead{.body = 0, .arrays = 1},
                   ArrayHead{.size = 4096, .offset = ~std::uint64_t{0} - 1, .lease = 0});
}
TEST_F(ShmMessage, APositionBeyondTheRingIsRefused) {
  lane_.written = kRing + 1;
  Message message;
  EXPECT_THROW(reader_.next(message), Error);
}

}  // namespace
}  // namespace lp::rpc
