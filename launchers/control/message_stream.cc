#include "launchers/control/message_stream.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lp/base/error.h"

namespace lp::launch {
namespace {
constexpr std::size_t kHead = 4;
constexpr std::size_t kReadAtOnce = std::size_t{1} << 16;
constexpr std::size_t kAhead = std::size_t{1} << 20;  // the outbox is filled with waiting messages up to this size
constexpr std::size_t kReadInOneGo = std::size_t{1} << 22;  // after so many bytes other connections get their turn

std::size_t length_of(const std::uint8_t* head) {
  return std::size_t{head[0]} | std::size_t{head[1]} << 8 | std::size_t{head[2]} << 16 | std::size_t{head[3]} << 24;
}
}  // namespace

MessageStream::MessageStream(int in, int out, std::size_t limit) : in_(in), out_(out), limit_(limit) {
  for (const int fd : {in, out}) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

MessageStream::~MessageStream() {
  close(in_);
  if (out_ != in_) close(out_);
}

void MessageStream::send(std::span<const std::uint8_t> message) {
  if (broken_) return;
  if (waiting_.empty()) {
    append(message);
  } else {
    waiting_.emplace_back([bytes = std::vector<std::uint8_t>(message.begin(), message.end())]() mutable {
      return std::exchange(bytes, {});
    });
  }
  flush();
}

void MessageStream::send_all(Function<std::vector<std::uint8_t>()> next) {
  if (broken_) return;
  waiting_.push_back(std::move(next));
  flush();
}

void MessageStream::append(std::span<const std::uint8_t> message) {
  const std::size_t size = message.size();
  for (std::size_t i = 0; i < kHead; ++i) outbox_.push_back(static_cast<std::uint8_t>(size >> (8 * i)));
  outbox_.insert(outbox_.end(), message.begin(), message.end());
}

void MessageStream::refill() {
  while (!waiting_.empty() && pending() < kAhead) {
    if (const std::vector<std::uint8_t> message = waiting_.front()(); !message.empty()) {
      append(message);
    } else {
      waiting_.pop_front();
    }
  }
}

ssize_t MessageStream::write_some() {
  const ssize_t written = ::send(out_, outbox_.data() + sent_, pending(), MSG_NOSIGNAL);
  return written >= 0 || errno != ENOTSOCK ? written : write(out_, outbox_.data() + sent_, pending());
}

void MessageStream::flush() {
  for (refill(); pending() > 0; refill()) {
    const ssize_t written = write_some();
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) break;
      broken_ = true;  // receive() reports it to the owner
      break;
    }
    sent_ += static_cast<std::size_t>(written);
  }
  if (pending() == 0 || broken_) {
    outbox_.clear();
    sent_ = 0;
    if (broken_) waiting_.clear();
  } else if (sent_ > kReadInOneGo) {
    outbox_.erase(outbox_.begin(), outbox_.begin() + static_cast<std::ptrdiff_t>(sent_));
    sent_ = 0;
  }
}

bool MessageStream::receive(Function<void(std::span<const std::uint8_t>)> take, std::string& error) {
  std::array<std::uint8_t, kReadAtOnce> chunk;
  bool open = true;
  for (std::size_t total = 0; total < kReadInOneGo;) {
    const ssize_t got = read(in_, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      open = got < 0 && errno == EAGAIN;
      break;
    }
    inbox_.insert(inbox_.end(), chunk.data(), chunk.data() + got);
    total += static_cast<std::size_t>(got);
  }
  std::size_t done = 0;
  while (inbox_.size() - done >= kHead) {
    const std::size_t length = length_of(inbox_.data() + done);
    if (length == 0 || length > limit_) {
      error = "it sent a control message of " + std::to_string(length) + " bytes, where 1 to " +
              std::to_string(limit_) + " are allowed";
      return false;
    }
    if (inbox_.size() - done - kHead < length) break;
    // Copies the message, because a message must be aligned.
    const auto begin = inbox_.begin() + static_cast<std::ptrdiff_t>(done + kHead);
    const std::vector<std::uint8_t> message(begin, begin + static_cast<std::ptrdiff_t>(length));
    done += kHead + length;
    take(message);
  }
  inbox_.erase(inbox_.begin(), inbox_.begin() + static_cast<std::ptrdiff_t>(done));
  return open;
}

SocketPair make_socket_pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error(ErrorKind::failed, std::string("cannot make a socket for a control connection: ") +
                                       std::strerror(errno) +
                                       (errno == EMFILE ? "; the limit is `ulimit -n`: raise it" : ""));
  }
  return {ends[0], ends[1]};
}

}  // namespace lp::launch
