#pragma once
// Accepts the connections of a listening socket, and keeps what such connections have not taken yet.
//
// Its owner uses it in the loop's thread. Any thread may call the constructor.

#include <cstddef>
#include <string>
#include <string_view>

#include "launchers/os/event_loop.h"
#include "lp/base/descriptor.h"
#include "lp/base/function.h"

namespace lp::launch {

class Acceptor {
 public:
  // `listener` listens and does not block. `accepted` gets connections that do not block either.
  Acceptor(Descriptor listener, EventLoop& loop, Function<void(Descriptor)> accepted);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

 private:
  void accept_all();
  Descriptor accept_one() const;

  Descriptor listener_;
  Descriptor spare_;  // released for a moment when no descriptor is left, to refuse a waiting client
  EventLoop& loop_;
  Function<void(Descriptor)> accepted_;
};

// Bytes that a connection has not taken yet.
class Outbox {
 public:
  void add(std::string_view bytes) { bytes_ += bytes; }
  void clear();
  bool empty() const { return size() == 0; }
  std::size_t size() const { return bytes_.size() - sent_; }
  // Sends as much as the connection takes now. Returns false when the connection is broken.
  bool send_now(int connection);

 private:
  std::string bytes_;
  std::size_t sent_ = 0;  // the first of them have left: to move the rest each time would take long
};

}  // namespace lp::launch
