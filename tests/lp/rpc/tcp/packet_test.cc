// Messages come out of packets and pieces unchanged; malformed input is refused.

#include "lp/rpc/tcp/packet.h"

#include <gtest/gtest.h>

#include <cstring>

#include "lp/base/error.h"
#include "lp/base/random.h"

namespace lp::rpc {
namespace {

Buffer some(std::size_t size, std::uint64_t seed) {
  Random random(seed, "packet", 0);
  Buffer buffer = Buffer::uninitialized(size);
  for (std::byte& byte : buffer.edit()) byte = static_cast<std::byte>(random.below(256));
  return buffer;
}

bool same_bytes(const Buffer& a, const Buffer& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

void expect_equal(const Message& a, const Message& b) {
  EXPECT_TRUE(same_bytes(a.body, b.body));
  ASSERT_EQ(a.arrays.size(), b.arrays.size());
  for (std::size_t i = 0; i < a.arrays.size(); ++i) EXPECT_TRUE(same_bytes(a.arrays[i], b.arrays[i])) << i;
}

Buffer packet_of(const std::vector<Message>& messages) {
  std::size_t size = 0;
  for (const Message& message : messages) size += packed_size(message);
  Buffer packet = Buffer::uninitialized(size);
  std::byte* to = packet.edit().data();
  for (const Message& message : messages) to = pack(message, to);
  EXPECT_EQ(to, packet.data() + packet.size());
  return packet;
}

TEST(TcpPacket, CarriesManySmallMessages) {
  const std::vector<Message> messages{
      {.body = some(10, 1)}, {.body = {}, .arrays = {some(5000, 2), {}, some(1, 3)}}, {.body = some(16 << 10, 4)}};
  std::vector<Message> received;
  Assembly().add(packet_of(messages), /*pieces_allowed=*/false, received);
  ASSERT_EQ(received.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    expect_equal(received[i], messages[i]);
    EXPECT_TRUE(pieces(messages[i]).empty());
  }
}

TEST(TcpPacket, LargePartsFollowInPieces) {
  const std::vector<Message> messages{
      {.body = some(20, 1)},
      {.body = some(100'000, 2),
       .arrays = {some(5000, 3), some(2 * kPieceBytes + 5, 4), some(kPieceBytes, 5), some(17 << 10, 6)}}};
  Assembly assembly;
  std::vector<Message> received;
  assembly.add(packet_of(messages), /*pieces_allowed=*/true, received);
  EXPECT_EQ(received.size(), 1u);
  const std::vector<Buffer> following = pieces(messages[1]);
  EXPECT_EQ(following.size(), 6u);
  for (const Buffer& piece : following) {
    EXPECT_LE(piece.size(), kPieceBytes);
    assembly.add(piece, true, received);
  }
  ASSERT_EQ(received.size(), 2u);
  expect_equal(received[1], messages[1]);
  assembly.add(packet_of({messages[0]}), true, received);
  EXPECT_EQ(received.size(), 3u);
}

TEST(TcpPacket, APacketWithManyPartsIsNoLargerThanAPiece) {
  Message message{.body = some(16 << 10, 1)};
  for (std::size_t i = 0; i < kMaxArrayFrames; ++i) message.arrays.push_back(some(16 << 10, i));
  EXPECT_LE(packed_size(message), kPieceBytes);
}

TEST(TcpPacket, RefusesWhatIsMalformed) {
  const auto refused = [](const Buffer& content, bool pieces_allowed) {
    std::vector<Message> received;
    EXPECT_THROW(Assembly().add(content, pieces_allowed, received), Error);
  };
  const auto numbers = [](const std::vector<std::uint64_t>& values) {
    return Buffer::copy_of(std::as_bytes(std::span(values)));
  };
  refused(some(7, 1), true);
  refused(numbers({0}), true);
  refused(numbers({1000, 1}), true);
  refused(numbers({~std::uint64_t{0}, 1}), true);
  refused(numbers({2, 8}), true);
  refused(numbers({1, 100}), true);                     // it ends in its part
  refused(numbers({1, std::uint64_t{1} << 60}), true);  // nobody sends that much
  refused(numbers({1, 1 << 20}), false);                // a stranger may not begin
  refused(numbers({1, 1 << 20, 1, 1}), true);           // something between a message and its pieces

  Assembly assembly;
  std::vector<Message> received;
  assembly.add(numbers({1, 1 << 20}), true, received);
  EXPECT_THROW(assembly.add(some(1000, 1), true, received), Error);
  EXPECT_TRUE(received.empty());
}

TEST(TcpPacket, RefusesRandomBytesOrTakesThem) {
  Random random(3, "packets", 0);
  for (int round = 0; round < 2000; ++round) {
    Buffer packet = packet_of({{.body = some(random.below(100), 1)}, {.body = some(9, 2), .arrays = {some(4096, 3)}}});
    for (int i = 0; i < 4; ++i) packet.edit()[random.below(64)] = static_cast<std::byte>(random.below(256));
    std::vector<Message> received;
    try {
      Assembly().add(packet, false, received);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace lp::rpc
