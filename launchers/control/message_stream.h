#pragma once
// One end of a control connection: whole messages over a stream socket, or over a pipe for each direction, never
// blocking. Owned and used by the one thread that polls it.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "lp/base/function.h"

namespace lp::internal {

inline constexpr std::size_t kSmallMessages = std::size_t{1} << 20;  // from a child
inline constexpr std::size_t kLargeMessages = std::size_t{1} << 26;  // from the parent: a configuration may be large

class ControlSocket {
 public:
  // Owns `fd`. A message above `limit` bytes, or none at all, ends the connection.
  ControlSocket(int fd, std::size_t limit) : ControlSocket(fd, fd, limit) {}
  // Reads from `in` and writes to `out`, and owns both. Pipes are for a process that blocks SIGPIPE.
  ControlSocket(int in, int out, std::size_t limit);
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  int fd() const { return in_; }    // readable when there is something to receive()
  int out() const { return out_; }  // writable when flush() can go on; mostly the same

  // Writes what the socket takes now and keeps the rest for flush().
  void send(std::span<const std::uint8_t> message);
  void flush();
  // Sends message after message of `next`, until it gives an empty one: each when those before it have mostly left, so
  // that a file can be sent that is larger than memory. What is sent afterwards goes after them.
  void send_all(Function<std::vector<std::uint8_t>()> next);
  std::size_t pending() const { return outbox_.size() - sent_; }  // bytes that wait for flush()

  // Reads what is there and gives every whole message to `take`. False at the end of the connection; `error` then says
  // what was wrong with it, and stays empty for an ordinary end.
  bool receive(Function<void(std::span<const std::uint8_t>)> take, std::string& error);

 private:
  void append(std::span<const std::uint8_t> message);
  void refill();
  ssize_t write_some();

  int in_;
  int out_;
  std::size_t limit_;
  bool broken_ = false;  // the other side is gone; what is sent is dropped
  std::vector<std::uint8_t> outbox_;
  std::size_t sent_ = 0;                                       // of outbox_
  std::deque<Function<std::vector<std::uint8_t>()>> waiting_;  // behind the outbox
  std::vector<std::uint8_t> inbox_;
};

// Two connected ends, closed on exec. Throws Error, naming the limit, when there are no descriptors left.
struct SocketPair {
  int ours;
  int theirs;
};
SocketPair make_socket_pair();

}  // namespace lp::internal
