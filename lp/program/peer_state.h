#pragma once
// The present location of a node, as the supervisor sends it to all processes of a run. A value.

#include <cstdint>
#include <string>

#include "lp/wire/node_id.h"

namespace lp {

// The present location of a node. While the endpoint is empty the node is not up, and calls to it wait for its next
// incarnation.
struct PeerState {
  NodeId node = 0;
  std::uint32_t incarnation = 0;
  std::string endpoint{};
  std::string key{};  // public key of its process, if the run has keys; a process without a key may not call
  bool gone = false;  // the node is absent and will not return by itself: calls to it fail at once with `text`
  std::string text{};
  std::uint64_t epoch = 0;  // epoch of its group with this news: how often members have come or gone
};

}  // namespace lp
