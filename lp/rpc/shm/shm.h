#pragma once
// The other processes of a run on this host, through shared memory. Each listens on a socket that has a name within its
// network namespace only. The side that dials hands over the memory of the link. The socket stays open: it closes when
// the other side ends, however it ends. Owned by the Network; thread-safe.

#include <memory>
#include <string>

#include "lp/base/error.h"
#include "lp/base/function.h"
#include "lp/rpc/core/connection.h"

namespace lp::rpc {

class Shm {
 public:
  // Throws Error::failed when the system offers no shared memory.
  explicit Shm(LocalProcess& process);
  ~Shm();
  Shm(const Shm&) = delete;
  Shm& operator=(const Shm&) = delete;

  // The name that others dial: 32 hexadecimal digits.
  const std::string& name() const;

  // Receives the connection, or the reason why there is none.
  using Dialed = Function<void(const std::shared_ptr<Connection>& connection, const Error* error)>;
  // Passes `dialed` the connection to a process, and makes one when there is none: now, or in another thread when the
  // process has answered. There is no connection when the process is not on this host and in this network namespace,
  // shares no memory, or does not answer within some seconds.
  void dial(const std::string& name, Dialed dialed);
  // Ends the connection to a process that is gone. Callbacks that still wait for it are not called.
  void hang_up(const std::string& name);
  // Ends all connections.
  void close();

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the threads that receive
};

}  // namespace lp::rpc
