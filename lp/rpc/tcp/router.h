#pragma once
// A ZeroMQ socket of kind ROUTER over TCP, for packets to and from any number of processes. Owned by Tcp; one thread at
// a time.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lp/base/function.h"
#include "lp/rpc/core/curve_keys.h"
#include "lp/wire/message.h"

namespace lp::rpc {

class Router {
 public:
  // With `keys`, all traffic is encrypted, and each connecting process must have a key of its own. Without them it must
  // present `secret`, which is not empty. A Authenticator checks either. Throws Error::failed, which names the limit
  // that was met.
  Router(const std::string& secret, const CurveKeys& keys);
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  // Listens at a port of the address (0: a free one) and returns the endpoint.
  std::string listen(const std::string& address, int port = 0);
  // Directs messages for `id` to the endpoint from now on; with keys, only to the process that has `key`.
  void connect(const std::string& id, const std::string& endpoint, const std::string& key);
  void disconnect(const std::string& endpoint);

  // Readable after news. It signals each only once, and never one that a call of this class has seen.
  int descriptor() const;
  // Whether there is something to receive.
  bool readable();

  // Sends messages, in order; when nobody is there they are dropped. Any thread may call `sent` when the last message
  // has left or was dropped, perhaps from within this or another call of this class. Throws std::bad_alloc.
  void send(const std::string& id, std::span<const Message> messages, Function<void()> sent);

  struct Arrival {
    std::string id{};          // id of the sender
    int descriptor = -1;       // descriptor of its connection
    std::uint64_t permit = 0;  // the authenticator's number for its key; 0: there are no keys
    Buffer content{};          // empty: malformed
  };
  // Takes the message that has come next. Returns false when there is none.
  bool receive(Arrival& arrival);

  // For the authenticator: the zmq::context_t, and ZeroMQ's own monitor of events at connections.
  void* context();
  void monitor(const char* endpoint, int events);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace lp::rpc
