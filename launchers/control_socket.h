#pragma once
// One end of a control connection: whole messages over a stream socket, never blocking. Owned and used by the one
// thread that polls it.

#include <cstddef>
#include <cstdint>
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
  ControlSocket(int fd, std::size_t limit);
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  int fd() const { return fd_; }

  // Writes what the socket takes now and keeps the rest for flush().
  void send(std::span<const std::uint8_t> message);
  void flush();
  std::size_t pending() const { return outbox_.size() - sent_; }  // bytes that wait for flush()

  // Reads what is there and gives every whole message to `take`. False at the end of the connection; `error` then says
  // what was wrong with it, and stays empty for an ordinary end.
  bool receive(Function<void(std::span<const std::uint8_t>)> take, std::string& error);

 private:
  int fd_;
  std::size_t limit_;
  bool broken_ = false;  // the other side is gone; what is sent is dropped
  std::vector<std::uint8_t> outbox_;
  std::size_t sent_ = 0;  // of outbox_
  std::vector<std::uint8_t> inbox_;
};

// Two connected ends, closed on exec. Throws Error, naming the limit, when there are no descriptors left.
struct SocketPair {
  int ours;
  int theirs;
};
SocketPair make_socket_pair();

}  // namespace lp::internal
