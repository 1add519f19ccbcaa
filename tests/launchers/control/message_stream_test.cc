#include "launchers/control/message_stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <vector>

#include "launchers/control/control_messages.h"

namespace lp::launch {
namespace {

using Bytes = std::vector<std::uint8_t>;

class ControlSocketTest : public testing::Test {
 protected:
  ControlSocketTest() {
    const SocketPair pair = make_socket_pair();
    a_.emplace(pair.ours, kLargeMessages);
    b_.emplace(pair.theirs, kSmallMessages);
  }
  // Receives b's next messages. Returns false when the connection has ended.
  bool receive() {
    return b_->receive([this](std::span<const std::uint8_t> bytes) { got_.emplace_back(bytes.begin(), bytes.end()); },
                       error_);
  }
  void send_raw(const Bytes& bytes) {
    ASSERT_EQ(::send(a_->fd(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

  std::optional<MessageStream> a_;
  std::optional<MessageStream> b_;
  std::vector<Bytes> got_;
  std::string error_;
};

TEST_F(ControlSocketTest, MessagesArriveWholeAndInOrder) {
  a_->send(Bytes{1, 2, 3});
  a_->send(Bytes{4});
  EXPECT_TRUE(receive());
  EXPECT_EQ(got_, (std::vector<Bytes>{{1, 2, 3}, {4}}));
}

TEST_F(ControlSocketTest, AMessageInPiecesIsPutTogether) {
  for (const std::uint8_t byte : Bytes{3, 0, 0, 0, 7, 8}) {
    send_raw({byte});
    EXPECT_TRUE(receive());
    EXPECT_TRUE(got_.empty());
  }
  send_raw({9});
  EXPECT_TRUE(receive());
  EXPECT_EQ(got_, (std::vector<Bytes>{{7, 8, 9}}));
}

TEST_F(ControlSocketTest, WhatTheSocketDoesNotTakeIsKept) {
  const Bytes large(kSmallMessages, 42);
  for (int i = 0; i < 4; ++i) a_->send(large);
  EXPECT_GT(a_->pending(), 0u);
  while (got_.size() < 4) {
    ASSERT_TRUE(receive());
    a_->flush();
  }
  EXPECT_EQ(a_->pending(), 0u);
  EXPECT_EQ(got_.back(), large);
}

TEST_F(ControlSocketTest, AMessageThatIsTooLargeEndsTheConnection) {
  send_raw({0xff, 0xff, 0xff, 0x7f, 1, 2, 3, 4});
  EXPECT_FALSE(receive());
  EXPECT_NE(error_.find("2147483647 bytes"), std::string::npos) << error_;
}

TEST_F(ControlSocketTest, AnEmptyMessageEndsTheConnection) {
  send_raw({0, 0, 0, 0});
  EXPECT_FALSE(receive());
  EXPECT_NE(error_, "");
}

TEST_F(ControlSocketTest, AnOrdinaryEndIsNoError) {
  a_->send(Bytes{1});
  a_.reset();
  EXPECT_FALSE(receive());
  EXPECT_EQ(got_.size(), 1u);
  EXPECT_EQ(error_, "");
}

TEST_F(ControlSocketTest, WritingToAnEndThatIsGoneIsNoSignal) {
  b_.reset();
  a_->send(Bytes{1});
  a_->send(Bytes{1});
  EXPECT_EQ(a_->pending(), 0u);
}

TEST_F(ControlSocketTest, BytesThatAreNoMessageAreSeen) {
  EXPECT_EQ(unpack({}), nullptr);
  EXPECT_EQ(unpack(Bytes(3, 0)), nullptr);
  EXPECT_EQ(unpack(Bytes(1000, 0xff)), nullptr);
}

}  // namespace
}  // namespace lp::launch
