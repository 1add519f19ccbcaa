#pragma once
// The bytes of one message. A value, owned by its holder.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lp/base/array.h"

namespace lp {

// Big arrays are frames of their own, so that no path copies them into the body. These are the first kMaxArrayFrames
// arrays of at least kArrayFrameBytes. Writer and Reader count alike.
inline constexpr std::size_t kArrayFrameBytes = 4096;
inline constexpr std::size_t kMaxArrayFrames = 256;
inline bool is_frame(std::size_t array_bytes, std::size_t frames_before) {
  return array_bytes >= kArrayFrameBytes && frames_before < kMaxArrayFrames;
}

// The largest depth of nested values (a list in a map in a struct is three deep), so that no message overflows a stack.
inline constexpr int kMaxNesting = 200;

struct Message {
  Buffer body{};
  std::vector<Buffer> arrays{};  // in the order in which the body refers to them

  std::size_t size() const {
    std::size_t size = body.size();
    for (const Buffer& array : arrays) size += array.size();
    return size;
  }
};

// The process that a message is for.
class MessageReceiver {
 public:
  // Whether it opens memory of that place, so that a frame may be the name of bytes there (Buffer::naming).
  virtual bool opens(std::uint64_t place) const = 0;

 protected:
  ~MessageReceiver() = default;
};

// Replaces names of bytes that the receiver does not open by the bytes. Throws Error when they cannot be had.
void replace_names(Message& message, const MessageReceiver& receiver);

}  // namespace lp
