#pragma once
// The nearest way to each process of a run: shared memory within a host and network namespace, otherwise TCP. Owned by
// the LocalProcess; thread-safe.

#include <cstdint>
#include <memory>
#include <string>

#include "lp/rpc/core/local_process.h"
#include "lp/rpc/core/network.h"
#include "lp/rpc/link/path.h"

namespace lp::rpc {

class Shm;
class Tcp;

class NearestNetwork final : public Network {
 public:
  // Throws Error::failed.
  explicit NearestNetwork(LocalProcess& process);
  ~NearestNetwork() override;
  NearestNetwork(const NearestNetwork&) = delete;
  NearestNetwork& operator=(const NearestNetwork&) = delete;

  std::string endpoint() const override;
  void dial(const std::string& endpoint, const std::string& key, Peer& peer, std::uint32_t incarnation) override;
  void hang_up(const std::string& endpoint) override;
  void allow(const std::string& key) override;
  void revoke(const std::string& key) override;
  void close() override;

 private:
  void close_transports();

  const Path path_;
  std::shared_ptr<Tcp> tcp_;
  std::unique_ptr<Shm> shm_;  // null: this host does not offer it, or the run does not want it
};

}  // namespace lp::rpc
