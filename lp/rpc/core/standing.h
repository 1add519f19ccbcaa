#pragma once
// Why a call has no reply yet: what its callee does in its turn, what that waits for, what that one's callee does, and
// so on. Gathered only when a call has waited long. Values and functions; any thread.

#include <cstdint>
#include <string>

#include "lp/wire/envelope.h"

namespace lp::internal {

class Hub;
class ServiceInstance;

// A call, for people.
struct CallName {
  std::uint32_t callee = Standing::kNobody;
  std::string method{};
};

// Adds what the node does, and what that waits for; each node once. Nothing, when its turn is free.
void add_standings(const ServiceInstance& node, Standings& all);
void add_standings(const Standings& more, Standings& all);

// "pull(), called by worker/1".
std::string work_text(const Standing& standing, const Hub& hub);
// "; a has been in f(), called by x, for 3 s, and waits there for b.g(); ..." `caller`: whose call waits for the first.
// Where they go round in a circle, it says so. Empty when there are none.
std::string text_of(const Standings& all, std::uint32_t caller, const Hub& hub);

}  // namespace lp::internal
