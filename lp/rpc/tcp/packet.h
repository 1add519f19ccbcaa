#pragma once
// The format of lp's messages in messages of ZeroMQ. A packet carries one or several messages: head, sizes and small
// parts one after the other. A large part follows its packet in pieces. So the receiver has the first pieces in their
// place while the last ones are on their way, and nobody can announce more at a time. Functions and values.

#include <cstddef>
#include <vector>

#include "lp/wire/message.h"

namespace lp::rpc {

inline constexpr std::size_t kPacketBytes = 64 << 10;  // a packet with this many bytes takes no further message
inline constexpr std::size_t kPieceBytes = 1 << 20;    // largest size of a piece or a packet

// Decides for each part of a message, in order, whether it lies in the packet.
class SmallParts {
 public:
  bool operator()(std::size_t size) {
    if (size > kLargest || sum_ + size > kPacketBytes) return false;
    sum_ += size;
    return true;
  }

 private:
  static constexpr std::size_t kLargest = 16 << 10;
  std::size_t sum_ = 0;
};

// Returns the bytes that the message takes in a packet.
std::size_t packed_size(const Message& message);
// Writes these bytes, and returns their end.
std::byte* pack(const Message& message, std::byte* to);
// Returns the pieces that follow the packet; such a message is the last in its packet.
std::vector<Buffer> pieces(const Message& message);

// Reassembles messages from the packets and pieces of one sender. One thread at a time.
class Assembly {
 public:
  // Takes the content of a message of ZeroMQ, and adds the messages that it completes to `messages`. Throws
  // Error(failed) when the content is malformed, and when it needs pieces although `pieces_allowed` is false.
  void add(Buffer content, bool pieces_allowed, std::vector<Message>& messages);

 private:
  void add_packet(const Buffer& packet, bool pieces_allowed, std::vector<Message>& messages);
  void add_piece(Buffer piece);
  void expect_next();

  Message message_;  // the message whose pieces come
  // The parts that come in pieces; the first `done_` of them are complete. Empty: a packet comes next.
  std::vector<std::size_t> large_;
  std::size_t done_ = 0;
  std::size_t filled_ = 0;  // bytes of the next part
  std::vector<std::size_t> sizes_;
};

}  // namespace lp::rpc
