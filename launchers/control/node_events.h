#pragma once
// Packs an event of a node into a control message and unpacks it. Functions without state.

#include "lp/program/node_event.h"

namespace lp::control {
struct NodeEvent;
struct NodeEventT;
}  // namespace lp::control

namespace lp::internal {

control::NodeEventT pack_event(const NodeEvent& event);

// `message` belongs to the process of this incarnation. unpack() has checked it.
NodeEvent unpack_event(const control::NodeEvent& message, std::uint32_t incarnation);

}  // namespace lp::internal
