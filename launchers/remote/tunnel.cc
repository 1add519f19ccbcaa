#include "launchers/remote/tunnel.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lp/base/error.h"
#include "lp/rpc/tcp/packet.h"

namespace lp::launch {
namespace {

constexpr std::size_t kWindow = std::size_t{1} << 20;  // bytes on their way at most, in each direction
constexpr std::size_t kChunk = std::size_t{15} << 10;  // bytes of a message; with its head it fits into one packet
constexpr int kChunksAtOnce = 8;                       // then others get their turn

}  // namespace

Tunnel::Tunnel(Descriptor stream, Poller& poller, std::uint64_t tag, Function<void(Buffer)> send)
    : stream_(std::move(stream)), poller_(poller), tag_(tag), send_(std::move(send)), room_(kWindow) {
  watch();
}

Tunnel::~Tunnel() {
  if (watched_) poller_.remove(stream_.number());
}

bool Tunnel::handle(const Poller::Ready& ready) {
  const bool before = ended_here();
  if (ready.writable) write();
  if (ready.readable) read();
  watch();
  return ended_here() && !before;
}

// A stream without a wanted event is removed from the poller, which would otherwise report the closed other end for
// ever.
void Tunnel::watch() {
  const bool reads = stream_ && room_ > 0;
  const bool writes = stream_ && unwritten();
  if (reads || writes) {
    if (watched_) {
      poller_.change(stream_.number(), tag_, writes, reads);
    } else {
      poller_.add(stream_.number(), tag_, writes, reads);
    }
  } else if (watched_) {
    poller_.remove(stream_.number());
  }
  watched_ = reads || writes;
}

void Tunnel::read() {
  std::array<std::byte, kChunk> bytes;
  for (int chunk = 0; chunk < kChunksAtOnce && stream_ && room_ > 0; ++chunk) {
    const ssize_t got = recv(stream_.number(), bytes.data(), std::min(bytes.size(), room_), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      if (std::exchange(watched_, false)) poller_.remove(stream_.number());
      stream_ = Descriptor();
      inbox_.clear();
      written_ = 0;
      return;
    }
    room_ -= static_cast<std::size_t>(got);
    send_(tunnel_message(Kind::bytes, std::span(bytes).first(static_cast<std::size_t>(got))));
  }
}

void Tunnel::write() {
  while (stream_ && unwritten()) {
    const ssize_t took =
        ::send(stream_.number(), inbox_.data() + written_, inbox_.size() - written_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (took < 0 && errno == EINTR) continue;
    if (took < 0 && errno == EAGAIN) break;
    // The reader is gone: read() finds the end.
    const std::size_t gone = took < 0 ? inbox_.size() - written_ : static_cast<std::size_t>(took);
    written_ += gone;
    unacknowledged_ += gone;
  }
  if (written_ == inbox_.size() || written_ >= kWindow) {
    inbox_.erase(inbox_.begin(), inbox_.begin() + static_cast<std::ptrdiff_t>(written_));
    written_ = 0;
  }
  if (unacknowledged_ >= kWindow / 2) {
    const auto room = static_cast<std::uint32_t>(std::exchange(unacknowledged_, 0));
    send_(tunnel_message(Kind::room, std::as_bytes(std::span(&room, 1))));
  }
  if (ended_there_ && stream_ && !unwritten()) shutdown(stream_.number(), SHUT_WR);
}

bool Tunnel::take(std::span<const std::byte> message) {
  const std::span<const std::byte> content = message.subspan(1);
  switch (kind_of(message)) {
    case Kind::hello: return true;  // a repeated greeting
    case Kind::bytes:
      if (!stream_) return true;  // the stream has ended
      if (ended_there_ || inbox_.size() - written_ + unacknowledged_ + content.size() > kWindow) return false;
      inbox_.insert(inbox_.end(), content.begin(), content.end());
      break;
    case Kind::room: {
      std::uint32_t room = 0;
      if (content.size() != sizeof room) return false;
      std::memcpy(&room, content.data(), sizeof room);
      if (room > kWindow - room_) return false;
      room_ += room;
      break;
    }
    case Kind::lost:
    case Kind::over: ended_there_ = true; break;
    default: return false;
  }
  write();
  watch();
  return true;
}

bool for_each_message(rpc::Router::Arrival& arrival, Function<void(std::span<const std::byte>)> take) {
  std::vector<Message> messages;
  try {
    rpc::Assembly().add(std::move(arrival.content), /*pieces_allowed=*/false, messages);
  } catch (const Error&) {
    return false;
  }
  for (const Message& message : messages) {
    if (message.body.empty() || !message.arrays.empty()) return false;
    take(message.body.bytes());
  }
  return !messages.empty();
}

Buffer tunnel_message(Tunnel::Kind kind, std::span<const std::byte> content) {
  Buffer message = Buffer::uninitialized(1 + content.size());
  message.edit()[0] = static_cast<std::byte>(kind);
  if (!content.empty()) std::memcpy(message.edit().data() + 1, content.data(), content.size());
  return message;
}
Tunnel::Kind kind_of(std::span<const std::byte> message) { return static_cast<Tunnel::Kind>(message.front()); }

}  // namespace lp::launch
