#pragma once
// The way to the other processes of a run. The core dials through it and knows no transport by name. Owned by the Hub;
// thread-safe.

#include <cstdint>
#include <string>

namespace lp::internal {

class Peer;

class Network {
 public:
  virtual ~Network() = default;

  // Others reach this process there: "tcp://127.0.0.1:41234", with shared memory also " shm://NAME". That name leads
  // somewhere only on this host and in this network namespace, whatever the address.
  virtual std::string endpoint() const = 0;

  // Tells `peer`, whose `incarnation` is at the endpoint, of the connection that leads there, which is made when there
  // is none: now or soon, in this thread or another. `key` is the public key of that process, where the run has keys.
  virtual void dial(const std::string& endpoint, const std::string& key, Peer& peer, std::uint32_t incarnation) = 0;
  // Ends the connection to an endpoint whose process is gone.
  virtual void hang_up(const std::string& endpoint) = 0;
  // The process with this public key may dial by TCP, until it is revoked: then its connections end at once.
  virtual void allow(const std::string& key) = 0;
  virtual void revoke(const std::string& key) = 0;
  // Ends all connections.
  virtual void close() = 0;
};

}  // namespace lp::internal
