#pragma once
// The way to the other processes of a run, the nearest that there is: shared memory within a host and network
// namespace, else TCP. Owned by the Hub; thread-safe.

#include <cstdint>
#include <memory>
#include <string>

#include "lp/rpc/core/connection.h"
#include "lp/rpc/core/hub.h"

namespace lp::internal {

class Shm;
class Tcp;

class Network {
 public:
  // Throws Error::failed.
  explicit Network(Hub& hub);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // Where others reach this process: "tcp://127.0.0.1:41234", with shared memory also " shm://NAME". That name leads
  // somewhere only on this host and in this network namespace, whatever the address.
  std::string endpoint() const;

  // Tells `peer`, whose `incarnation` is at the endpoint, of the connection that leads there, which is made when there
  // is none: now or soon, in this thread or another. `key` is the public key of that process, where the run has keys.
  void dial(const std::string& endpoint, const std::string& key, Peer& peer, std::uint32_t incarnation);
  // Ends the connection to an endpoint whose process is gone.
  void hang_up(const std::string& endpoint);
  // The process with this public key may dial by TCP, until it is revoked: then its connections end at once.
  void allow(const std::string& key);
  void revoke(const std::string& key);
  // Ends all connections.
  void close();

 private:
  const Path path_;
  std::shared_ptr<Tcp> tcp_;
  std::unique_ptr<Shm> shm_;  // null: this host does not offer it, or the run does not want it
};

}  // namespace lp::internal
