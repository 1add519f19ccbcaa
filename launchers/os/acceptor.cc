#include "launchers/os/acceptor.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace lp::launch {
namespace {

Descriptor new_spare() { return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

Acceptor::Acceptor(Descriptor listener, EventLoop& loop, Function<void(Descriptor)> accepted)
    : listener_(std::move(listener)), spare_(new_spare()), loop_(loop), accepted_(std::move(accepted)) {
  loop_.watch(listener_.number(), [this](EventLoop::Ready) { accept_all(); });
}

Acceptor::~Acceptor() { loop_.unwatch(listener_.number()); }

Descriptor Acceptor::accept_one() const {
  return Descriptor(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

void Acceptor::accept_all() {
  for (;;) {
    Descriptor connection = accept_one();
    if (!connection && (errno == EMFILE || errno == ENFILE) && spare_) {
      spare_ = Descriptor();
      connection = accept_one();
      connection = Descriptor();
      spare_ = new_spare();
      continue;
    }
    if (!connection) return;
    accepted_(std::move(connection));
  }
}

void Outbox::clear() {
  bytes_.clear();
  sent_ = 0;
}

bool Outbox::send_now(int connection) {
  while (!empty()) {
    const ssize_t sent = send(connection, bytes_.data() + sent_, size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN;
    sent_ += static_cast<std::size_t>(sent);
  }
  clear();
  return true;
}

}  // namespace lp::launch
