#pragma once
// A ZeroMQ socket of kind ROUTER over TCP, for packets to and from any number of processes. Owned by Tcp; one thread at
// a time.

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "lp/base/function.h"
#include "lp/wire/frames.h"

namespace lp::internal {

class Router {
 public:
  // Whoever connects must show `secret`, which is not empty; a TcpGuard checks it. Throws Error::failed, which names
  // the limit that was met.
  explicit Router(const std::string& secret);
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  // Listens at a free port of the address; returns the endpoint.
  std::string listen(const std::string& address);
  // What is sent to `id` goes to the endpoint from now on.
  void connect(const std::string& id, const std::string& endpoint);
  void disconnect(const std::string& endpoint);

  // Readable after news; speaks only once of each, and of none that a call of this class has seen.
  int descriptor() const;
  // Whether there is something to receive.
  bool readable();

  // Sends messages, in order; when nobody is there they are dropped. `sent` is called when the last one has left or was
  // dropped, by any thread, perhaps from within this or another call of this class.
  void send(const std::string& id, std::span<const Frames> messages, Function<void()> sent);

  struct Arrival {
    std::string id{};     // of the sender
    int descriptor = -1;  // of its connection
    Buffer content{};     // empty: malformed
  };
  // Takes what has come next; false: nothing has.
  bool receive(Arrival& arrival);

  // For the guard: the zmq::context_t, and ZeroMQ's own monitor of what happens to connections.
  void* context();
  void monitor(const char* endpoint, int events);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace lp::internal
