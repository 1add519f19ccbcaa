#pragma once
// Who may connect to a Router. It asks everybody for a key that it knows, or, where the run has no keys, for the run's
// secret, before anything else is read; counts and logs whom it refuses; and lets only few strangers at a time try, so
// that they take neither memory nor descriptors. Owned by Tcp; one thread of its own, which calls the functions.
// Thread-safe.

#include <cstdint>
#include <memory>
#include <string>

#include "lp/base/function.h"
#include "lp/rpc/tcp/router.h"

namespace lp::internal {

class TcpGuard {
 public:
  struct Notices {
    Function<void()> refused;                                // somebody
    Function<void(const std::string& endpoint)> refuses_us;  // the process there
    Function<void(int descriptor)> ended;                    // a connection that had been greeted
  };
  // Before the router listens. Throws Error.
  TcpGuard(Router& router, std::string secret, Notices notices);
  ~TcpGuard();
  TcpGuard(const TcpGuard&) = delete;
  TcpGuard& operator=(const TcpGuard&) = delete;

  // Who has this key may connect, until it is revoked. Both give its permit, the number that the router tells of such a
  // connection; 0 of a key that is not allowed. A key that is allowed again gets another permit.
  std::uint64_t allow(const std::string& key);
  std::uint64_t revoke(const std::string& key);
  bool allows(std::uint64_t permit) const;
  // Ends a connection that was accepted.
  void cut(int descriptor);

  // Calls no function any more. Before the router ends.
  void close();

  // A whole packet came from the connection: who refuses that counts it.
  void heard(int descriptor);
  // The connection is no stranger's any more.
  void greeted(int descriptor);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace lp::internal
