#pragma once
// One end of a control connection. It sends whole messages over a stream socket, or over one pipe for each direction,
// and never blocks. The one thread that polls it owns and uses it.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "lp/base/function.h"

namespace lp::launch {

inline constexpr std::size_t kSmallMessages = std::size_t{1} << 20;  // from a child
// from the parent, whose configuration may be large
inline constexpr std::size_t kLargeMessages = std::size_t{1} << 26;

class MessageStream {
 public:
  // Takes ownership of `fd`. A message above `limit` bytes, or a malformed one, ends the connection.
  MessageStream(int fd, std::size_t limit) : MessageStream(fd, fd, limit) {}
  // Reads from `in`, writes to `out`, and owns both. A process may use pipes only if it blocks SIGPIPE.
  MessageStream(int in, int out, std::size_t limit);
  ~MessageStream();
  MessageStream(const MessageStream&) = delete;
  MessageStream& operator=(const MessageStream&) = delete;

  int fd() const { return in_; }    // readable when there is input for receive()
  int out() const { return out_; }  // writable when flush() can continue; usually the same as fd()

  // Writes as much as the socket accepts now and keeps the rest for flush().
  void send(std::span<const std::uint8_t> message);
  void flush();
  // Sends the messages that `next` returns, until it returns an empty one. It asks for a message only when most of the
  // earlier bytes have left, so a file may be larger than memory. Messages that are sent later follow after these.
  void send_all(Function<std::vector<std::uint8_t>()> next);
  std::size_t pending() const { return outbox_.size() - sent_; }  // bytes that wait for flush()

  // Reads all available bytes and passes every whole message to `take`. Returns false at the end of the connection.
  // `error` then holds the reason, and stays empty for an ordinary end.
  bool receive(Function<void(std::span<const std::uint8_t>)> take, std::string& error);

 private:
  void append(std::span<const std::uint8_t> message);
  void refill();
  ssize_t write_some();

  int in_;
  int out_;
  std::size_t limit_;
  bool broken_ = false;  // the peer has closed the connection, so messages are dropped
  std::vector<std::uint8_t> outbox_;
  std::size_t sent_ = 0;                                       // bytes of outbox_ that have been sent
  std::deque<Function<std::vector<std::uint8_t>()>> waiting_;  // sources of messages that follow the outbox
  std::vector<std::uint8_t> inbox_;
};

// Two connected ends, closed on exec. Throws Error, with the limit, when no descriptors are left.
struct SocketPair {
  int ours;
  int theirs;
};
SocketPair make_socket_pair();

}  // namespace lp::launch
