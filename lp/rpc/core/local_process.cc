#include "lp/rpc/core/local_process.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lp/base/memory_limit.h"
#include "lp/rpc/core/connection.h"

namespace lp::rpc {
namespace {
const std::string kOutsideName = "outside";

// All callers of a service together may send it this many bytes without asking.
constexpr std::size_t kWindows = std::size_t{256} << 20;
constexpr std::size_t kLeastWindow = std::size_t{64} << 10;
constexpr std::size_t kMostWindow = std::size_t{16} << 20;
}  // namespace

LocalProcess::LocalProcess(Options options)
    : options_(std::move(options)),
      bounds_(Bounds::of(options_.own.memory != 0 ? options_.own.memory : internal::memory_here())),
      window_(std::clamp(kWindows / std::max<std::size_t>(options_.nodes.size(), 1), kLeastWindow, kMostWindow)),
      incoming_(bounds_.service, bounds_.process),
      outgoing_(bounds_.service, bounds_.process) {
  for (NodeId node = 0; node < options_.nodes.size(); ++node) {
    peers_.emplace_back(*this, node);
    callers_.emplace_back(0);
  }
}

LocalProcess::~LocalProcess() {
  close();
  pool_.drain(kNever);  // threads that still receive use all members
}

const std::string& LocalProcess::name(NodeId node) const {
  return node < options_.nodes.size() ? options_.nodes[node] : kOutsideName;
}

std::vector<std::string> LocalProcess::names(const CallPath& path) const {
  std::vector<std::string> names;
  for (const NodeId node : path.span()) names.push_back(name(node));
  return names;
}

bool LocalProcess::admit(NodeId caller, std::uint32_t incarnation) noexcept {
  std::atomic<std::uint32_t>& newest = callers_[caller];
  std::uint32_t seen = newest.load(std::memory_order_relaxed);
  while (seen < incarnation && !newest.compare_exchange_weak(seen, incarnation, std::memory_order_relaxed)) {
  }
  return seen <= incarnation;
}

Duration LocalProcess::timeout(Duration given, const MethodInfo& info) const {
  if (options_.run.no_deadlines) return kForever;
  if (given != Duration::zero()) return given;
  return info.traits.deadline != Duration::zero() ? info.traits.deadline : options_.run.deadline;
}

void LocalProcess::join(std::unique_ptr<Network> network) {
  timers_.start();
  network_ = std::move(network);
}

void LocalProcess::lose_message(const Error& error) noexcept {
  if (options_.fail) options_.fail(error);
}

void LocalProcess::broken(const Connection& connection) noexcept {
  for (Peer& peer : peers_) peer.broken(connection);
}

std::vector<OpenCall> LocalProcess::calls(std::size_t most) {
  std::vector<OpenCall> all;
  std::set<std::shared_ptr<Connection>> connections;
  for (const Peer& peer : peers_) {
    peer.add_held(all, most - all.size());
    if (const auto connection = peer.connection()) connections.insert(connection);
  }
  for (const auto& connection : connections) connection->add_calls(all, most - all.size());
  return all;
}

void LocalProcess::close() {
  const Error error(ErrorKind::stopped, "the program is shutting down");
  for (Peer& peer : peers_) peer.close(error);
  if (network_ != nullptr) network_->close();
}

void LocalProcess::abandon() { pool_.abandon(); }

}  // namespace lp::rpc
