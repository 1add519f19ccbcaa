#pragma once
// The way to the other processes of a run. The core dials through it and knows no transport by name. Owned by the
// LocalProcess; thread-safe.

#include <cstdint>
#include <string>

namespace lp::rpc {

class Peer;

class Network {
 public:
  virtual ~Network() = default;

  // Returns the address at which others reach this process: "tcp://127.0.0.1:41234", with shared memory also "
  // shm://NAME". That name is valid only on this host and in this network namespace, whatever the address.
  virtual std::string endpoint() const = 0;

  // Passes `peer`, whose `incarnation` is at the endpoint, the connection to that endpoint, and makes one when there is
  // none: now or soon, in this thread or another. `key` is the public key of that process, if the run has keys.
  virtual void dial(const std::string& endpoint, const std::string& key, Peer& peer, std::uint32_t incarnation) = 0;
  // Ends the connection to an endpoint whose process is gone.
  virtual void hang_up(const std::string& endpoint) = 0;
  // Permits the process with this public key to dial by TCP, until the key is revoked: then its connections end at
  // once.
  virtual void allow(const std::string& key) = 0;
  virtual void revoke(const std::string& key) = 0;
  // Ends all connections.
  virtual void close() = 0;
};

}  // namespace lp::rpc
