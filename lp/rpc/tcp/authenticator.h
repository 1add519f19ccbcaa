#pragma once
// Decides which processes may connect to a Router. It asks every process for a key that it knows, or, if the run has no
// keys, for the run's secret, before anything else is read. It counts and logs the processes that it refuses. It lets
// only few strangers at a time try, so that they take neither memory nor descriptors. Owned by Tcp; it has one thread
// of its own, which calls the functions. Thread-safe.

#include <cstdint>
#include <memory>
#include <string>

#include "lp/base/function.h"
#include "lp/rpc/tcp/router.h"

namespace lp::rpc {

class Authenticator {
 public:
  struct Notices {
    Function<void()> refused;                                // somebody was refused
    Function<void(const std::string& endpoint)> refuses_us;  // the process at the endpoint refused this one
    Function<void(int descriptor)> ended;                    // a connection that had been greeted has ended
    Function<void(const std::string& endpoint)> broken;      // the connection to an endpoint has ended
  };
  // Called before the router listens. Throws Error.
  Authenticator(Router& router, std::string secret, Notices notices);
  ~Authenticator();
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;

  // A process with this key may connect until the key is revoked. Both return the key's permit, the number that the
  // router reports for its connections, or 0 for a key that is not allowed. A key that is allowed again gets another
  // permit.
  std::uint64_t allow(const std::string& key);
  std::uint64_t revoke(const std::string& key);
  bool allows(std::uint64_t permit) const;
  // Ends a connection that was accepted.
  void cut(int descriptor);

  // Stops all calls of the functions. Called before the router ends.
  void close();

  // Notes that a whole packet came from the connection: the code that refuses the packet counts it.
  void on_packet(int descriptor);
  // Notes that the connection no longer belongs to a stranger.
  void greeted(int descriptor);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace lp::rpc
