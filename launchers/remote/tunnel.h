#pragma once
// Carries a stream of bytes to another host in messages of a Router. The bytes of a socket here are written into a
// socket there. Each side sends no more bytes than the other has room for, so memory stays bounded. The first message
// is a greeting, which is for the owners.
//
// The thread that has the Router owns and uses it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lp/base/array.h"
#include "lp/base/descriptor.h"
#include "lp/base/function.h"
#include "lp/base/scheduler.h"
#include "lp/rpc/tcp/router.h"

namespace lp::launch {

class Tunnel {
 public:
  // The kind of a message, which is its first byte.
  enum class Kind : std::uint8_t {
    hello,  // a greeting; the answer repeats it with the lease in seconds as four bytes
    bytes,  // bytes of the stream
    room,   // room for as many more bytes as its four bytes count
    lost,   // the stream has ended
    over,   // the stream and the run have ended: the other side shall not dial again
  };

  // `stream` is a connected socket, which `poller` watches under `tag`. `send` takes each message for the other side.
  Tunnel(Descriptor stream, Poller& poller, std::uint64_t tag, Function<void(Buffer)> send);
  ~Tunnel();
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

  // Handles the ready stream. Returns true when the stream has just ended: the owner then sends lost or over to the
  // other side.
  [[nodiscard]] bool handle(const Poller::Ready& ready);
  // Takes a message of the other side. Returns false when it is not allowed.
  bool take(std::span<const std::byte> message);

  bool ended_here() const { return !stream_; }
  bool ended_there() const { return ended_there_; }

 private:
  void read();
  void write();
  void watch();
  bool unwritten() const { return written_ < inbox_.size(); }

  Descriptor stream_;
  Poller& poller_;
  const std::uint64_t tag_;
  Function<void(Buffer)> send_;
  bool watched_ = false;
  std::size_t room_;                // bytes that the other side has room for
  std::vector<std::byte> inbox_{};  // bytes for the stream
  std::size_t written_ = 0;         // bytes of the inbox that were written
  std::size_t unacknowledged_ = 0;  // bytes that were written since the other side last got room
  bool ended_there_ = false;
};

// Passes each message of a Router's arrival to `take`. Returns false when it is malformed.
bool for_each_message(rpc::Router::Arrival& arrival, Function<void(std::span<const std::byte>)> take);

Buffer tunnel_message(Tunnel::Kind kind, std::span<const std::byte> content = {});
// The kind of the message. Messages are not empty.
Tunnel::Kind kind_of(std::span<const std::byte> message);

}  // namespace lp::launch
