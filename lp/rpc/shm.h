#pragma once
// The other processes of a run on this host, through shared memory. Each listens on a socket that has a name within its
// network namespace only; whoever dials hands over the memory of the link, and the socket stays open to tell when the
// other side ends, however it does. Owned by the Network; thread-safe.

#include <memory>
#include <string>

#include "lp/rpc/connection.h"

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

  // The connection to a process, which is made when there is none. Throws Error when it is not on this host and in this
  // network namespace, or shares no memory.
  std::shared_ptr<Connection> dial(const std::string& name);
  // Ends the connection to a process that is gone.
  void hang_up(const std::string& name);
  // Ends all connections.
  void close();

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with threads that receive
};

}  // namespace lp::internal
