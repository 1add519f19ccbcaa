#pragma once
// How messages of lp lie in those of ZeroMQ. A packet carries one or several messages, head, sizes and small parts one
// behind the other. A large part follows its packet in pieces, so that the receiver has the first ones where they
// belong while the last ones are on their way, and so that nobody can announce more at a time. Functions and values.

#include <cstddef>
#include <utility>
#include <vector>

#include "lp/wire/frames.h"

namespace lp::internal {

inline constexpr std::size_t kPacketBytes = 64 << 10;  // a packet that has so many takes no further message
inline constexpr std::size_t kPieceBytes = 1 << 20;    // at most; no packet is larger either

// Tells of each part of a message, in order, whether it lies in the packet.
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

// Bytes that the message takes in a packet.
std::size_t packed_size(const Frames& message);
// Writes them, and returns where they end.
std::byte* pack(const Frames& message, std::byte* to);
// What follows the packet, of which such a message is the last.
std::vector<Buffer> pieces(const Frames& message);

// Puts messages together again from what one sender sends. One thread at a time.
class Assembly {
 public:
  // The content of a message of ZeroMQ: adds those that it completes to `messages`. Throws Error(failed) when it is
  // malformed, and when `pieces_allowed` is not and it needs pieces.
  void add(Buffer content, bool pieces_allowed, std::vector<Frames>& messages);

 private:
  void add_packet(const Buffer& packet, bool pieces_allowed, std::vector<Frames>& messages);
  void add_piece(Buffer piece);
  void expect_next();

  Frames message_;                  // whose pieces come
  std::vector<std::size_t> large_;  // its parts that come, of which the first `done_` are there; none: a packet comes
  std::size_t done_ = 0;
  std::size_t filled_ = 0;  // bytes of the next one
  std::vector<std::size_t> sizes_;
};

}  // namespace lp::internal
