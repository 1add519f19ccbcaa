#pragma once
// The other processes of a run by ZeroMQ over TCP: one socket, and one thread that owns it. Owned by the Network;
// thread-safe.

#include <memory>
#include <string>

#include "lp/rpc/connection.h"

namespace lp::internal {

class Tcp {
 public:
  // Listens on a free port of 127.0.0.1. Throws Error::failed.
  explicit Tcp(Hub& hub);
  ~Tcp();
  Tcp(const Tcp&) = delete;
  Tcp& operator=(const Tcp&) = delete;

  // "tcp://127.0.0.1:41234"
  const std::string& endpoint() const;

  // The connection to an endpoint, which is made when there is none.
  std::shared_ptr<Connection> dial(const std::string& endpoint);
  // Ends the connection to an endpoint whose process is gone.
  void hang_up(const std::string& endpoint);
  // Ends all connections and the thread.
  void close();

 private:
  class ZmqLink;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lp::internal
