#include "lp/rpc/nearest_network.h"

#include <string_view>
#include <utility>

#include "lp/base/shared_heap.h"
#include "lp/rpc/core/local_process.h"
#include "lp/rpc/shm/shm.h"
#include "lp/rpc/tcp/tcp.h"

namespace lp::rpc {
namespace {

constexpr std::string_view kShm = " shm://";

// The two parts of an endpoint; the second may be empty.
std::pair<std::string, std::string> parts(const std::string& endpoint) {
  const std::size_t at = endpoint.find(kShm);
  if (at == std::string::npos) return {endpoint, ""};
  return {endpoint.substr(0, at), endpoint.substr(at + kShm.size())};
}

}  // namespace

NearestNetwork::NearestNetwork(LocalProcess& process) : path_(process.options().run.path), tcp_(Tcp::listen(process)) {
  try {
    // Arrays that TCP brings go there too: into memory that was used before.
    SharedHeap::use(process.options().run.shared_memory);
    if (path_ != Path::tcp) shm_ = std::make_unique<Shm>(process);
  } catch (const Error&) {
    if (path_ != Path::shm) return;
    tcp_->close();
    throw;
  }
}

NearestNetwork::~NearestNetwork() { close_transports(); }

std::string NearestNetwork::endpoint() const {
  return shm_ == nullptr ? tcp_->endpoint() : tcp_->endpoint() + std::string(kShm) + shm_->name();
}

void NearestNetwork::dial(const std::string& endpoint, const std::string& key, Peer& peer, std::uint32_t incarnation) {
  const auto [tcp, shm] = parts(endpoint);
  if (shm_ != nullptr && !shm.empty()) {
    shm_->dial(shm, [this, key, &peer, incarnation, other = tcp](const std::shared_ptr<Connection>& connection,
                                                                 const Error* error) {
      if (connection != nullptr) {
        peer.connected(incarnation, connection);
      } else if (path_ == Path::shm) {
        peer.unreachable(incarnation, *error);
      } else {
        peer.connected(incarnation, tcp_->dial(other, key));
      }
    });
  } else if (path_ == Path::shm) {
    peer.unreachable(incarnation, Error(ErrorKind::failed, "--path=shm: " + endpoint + " has no shared memory"));
  } else {
    peer.connected(incarnation, tcp_->dial(tcp, key));
  }
}

void NearestNetwork::hang_up(const std::string& endpoint) {
  const auto [tcp, shm] = parts(endpoint);
  if (shm_ != nullptr) shm_->hang_up(shm);
  tcp_->hang_up(tcp);
}

void NearestNetwork::allow(const std::string& key) { tcp_->allow(key); }
void NearestNetwork::revoke(const std::string& key) { tcp_->revoke(key); }

void NearestNetwork::close() { close_transports(); }

void NearestNetwork::close_transports() {
  if (shm_ != nullptr) shm_->close();
  tcp_->close();
}

}  // namespace lp::rpc
