#pragma once
// The other processes of a run on this host, through shared memory. Each listens on a socket that has a name within its
// network namespace only; whoever dials hands over the memory of the link, and the socket stays open to tell when the
// other side ends, however it does. Owned by the Network; thread-safe.

#include <memory>
#include <string>

#include "lp/base/error.h"
#include "lp/base/function.h"
#include "lp/rpc/core/connection.h"

namespace lp::internal {

class Shm {
 public:
  // Throws Error::failed when the system offers no shared memory.
  explicit Shm(Hub& hub);
  ~Shm();
  Shm(const Shm&) = delete;
  Shm& operator=(const Shm&) = delete;

  // What others dial: 32 hexadecimal digits.
  const std::string& name() const;

  // Gets the connection, or else the reason why there is none.
  using Dialed = Function<void(const std::shared_ptr<Connection>& connection, const Error* error)>;
  // Gives `dialed` the connection to a process, which is made when there is none: now, or in another thread when the
  // process has answered. There is none when it is not on this host and in this network namespace, shares no memory,
  // or does not answer in some seconds.
  void dial(const std::string& name, Dialed dialed);
  // Ends the connection to a process that is gone; whoever still waits for it gets nothing.
  void hang_up(const std::string& name);
  // Ends all connections.
  void close();

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with threads that receive
};

}  // namespace lp::internal
