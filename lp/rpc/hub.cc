#include "lp/rpc/hub.h"

#include <utility>

#include "lp/rpc/network.h"

namespace lp::internal {
namespace {
const std::string kOutsideName = "outside";
}

Hub::Hub(Options options) : options_(std::move(options)) {
  for (NodeId node = 0; node < options_.nodes.size(); ++node) {
    peers_.emplace_back(*this, node);
    callers_.emplace_back(0);
  }
  if (options_.network) network_ = std::make_unique<Network>(*this);
}

Hub::~Hub() {
  close();
  pool_.drain(kNever);  // threads that still receive use all of this
}

const std::string& Hub::name(NodeId node) const {
  return node < options_.nodes.size() ? options_.nodes[node] : kOutsideName;
}

std::vector<std::string> Hub::names(const CallPath& path) const {
  std::vector<std::string> names;
  for (const NodeId node : path.span()) names.push_back(name(node));
  return names;
}

bool Hub::admit(NodeId caller, std::uint32_t incarnation) noexcept {
  std::atomic<std::uint32_t>& newest = callers_[caller];
  std::uint32_t seen = newest.load(std::memory_order_relaxed);
  while (seen < incarnation && !newest.compare_exchange_weak(seen, incarnation, std::memory_order_relaxed)) {
  }
  return seen <= incarnation;
}

Duration Hub::timeout(Duration said, const MethodInfo& info) const {
  if (options_.patient) return kForever;
  if (said != Duration::zero()) return said;
  return info.traits.deadline != Duration::zero() ? info.traits.deadline : options_.deadline;
}

void Hub::close() {
  const Error error(ErrorKind::stopped, "the program is shutting down");
  for (Peer& peer : peers_) peer.close(error);
  if (network_ != nullptr) network_->close();
}

void Hub::abandon() { pool_.abandon(); }

}  // namespace lp::internal
