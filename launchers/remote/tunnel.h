#pragma once
// A stream of bytes that goes to another host in messages of a Router: what comes from a socket here is written into
// one there. Each side sends no more than the other has room for, so that nothing is kept without bound. The first
// message is a greeting, which is for the owners.
//
// Owned and used by the thread that has the Router.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lp/base/array.h"
#include "lp/base/descriptor.h"
#include "lp/base/function.h"
#include "lp/base/scheduler.h"
#include "lp/rpc/tcp/router.h"

namespace lp::internal {

class Tunnel {
 public:
  // What a message is, by its first byte.
  enum class Kind : std::uint8_t {
    hello,  // somebody is there; the answer is the same with four bytes: the seconds of the lease
    bytes,  // of the stream
    room,   // for so many more, in four bytes
    lost,   // the stream has ended
    over,   // it has, and so has the run: nobody shall begin another one
  };

  // `stream` is a connected socket, which `poller` watches under `tag`; `send` takes each message for the other side.
  Tunnel(Descriptor stream, Poller& poller, std::uint64_t tag, Function<void(Buffer)> send);
  ~Tunnel();
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

  // The stream is ready. True when it has ended with this: the owner tells the other side lost or over.
  [[nodiscard]] bool handle(const Poller::Ready& ready);
  // Takes a message of the other side. False when it is none that may come.
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
  std::size_t room_;                // bytes that the other side takes
  std::vector<std::byte> inbox_{};  // for the stream, of which
  std::size_t written_ = 0;         // so many have gone there,
  std::size_t told_ = 0;            // and so many since the other side was told that there is room again
  bool ended_there_ = false;
};

// Gives each message in what a Router has received to `take`. False when it is malformed.
bool for_each_message(Router::Arrival& arrival, Function<void(std::span<const std::byte>)> take);

Buffer tunnel_message(Tunnel::Kind kind, std::span<const std::byte> content = {});
// What the message is. Messages are not empty.
Tunnel::Kind kind_of(std::span<const std::byte> message);

}  // namespace lp::internal
