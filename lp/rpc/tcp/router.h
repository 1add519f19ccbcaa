#pragma once
// A ZeroMQ socket of kind ROUTER over TCP, for packets to and from any number of processes. Owned by Tcp; one thread at
// a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lp/base/function.h"
#include "lp/rpc/core/curve.h"
#include "lp/wire/frames.h"

namespace lp::internal {

class Router {
 public:
  // With `keys`, all is encrypted, and whoever connects must have a key of its own; else it must show `secret`, which
  // is not empty. A TcpGuard checks either. Throws Error::failed, which names the limit that was met.
  Router(const std::string& secret, const CurveKeys& keys);
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  // Listens at a port of the address, 0: at a free one; returns the endpoint.
  std::string listen(const std::string& address, int port = 0);
  // What is sent to `id` goes to the endpoint from now on; with keys, to none but who has `key`.
  void connect(const std::string& id, const std::string& endpoint, const std::string& key);
  void disconnect(const std::string& endpoint);

  // Readable after news; speaks only once of each, and of none that a call of this class has seen.
  int descriptor() const;
  // Whether there is something to receive.
  bool readable();

  // Sends messages, in order; when nobody is there they are dropped. `sent` is called when the last one has left or was
  // dropped, by any thread, perhaps from within this or another call of this class.
  void send(const std::string& id, std::span<const Frames> messages, Function<void()> sent);

  struct Arrival {
    std::string id{};          // of the sender
    int descriptor = -1;       // of its connection
    std::uint64_t permit = 0;  // the guard's number for its key; 0: there are no keys
    Buffer content{};          // empty: malformed
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
