#pragma once
// The other processes of a run, by ZeroMQ over TCP: one socket, and one thread that owns it. Owned by the Hub;
// thread-safe.

#include <memory>
#include <string>

#include "lp/rpc/connection.h"

namespace lp::internal {

class Network {
 public:
  // Listens on a free port of 127.0.0.1. Throws Error::failed.
  explicit Network(Hub& hub);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // "tcp://127.0.0.1:41234"
  const std::string& endpoint() const;

  // The connection to an endpoint, which is made when there is none.
  std::shared_ptr<Connection> dial(const std::string& endpoint);
  // Ends the connection to an endpoint whose process is gone.
  void hang_up(const std::string& endpoint);
  // Ends all connections and the thread.
  void close();

  // Messages that were refused: strangers, garbage, older incarnations.
  std::uint64_t refused() const;

 private:
  class ZmqLink;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lp::internal
