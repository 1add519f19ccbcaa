#include "lp/rpc/core/wait_chain.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lp/base/text.h"
#include "lp/rpc/core/local_process.h"
#include "lp/rpc/core/service_instance.h"

namespace lp::rpc {
namespace {

bool has(const WaitChain& all, std::uint32_t node) {
  return std::any_of(all.begin(), all.end(), [node](const WaitLink& one) { return one.node == node; });
}

}  // namespace

void add_wait_chain(const ServiceInstance& node, WaitChain& all) {
  if (all.size() >= kMostWaitLinks || has(all, node.id())) return;
  std::optional<WaitLink> work = node.current_work();
  if (!work.has_value()) return;
  const Ref<StateBase> awaited = node.awaited();
  if (const std::optional<CallName> call = awaited ? awaited->call_name() : std::nullopt) {
    work->awaited = call->callee;
    work->method = call->method;
  }
  all.push_back(std::move(*work));
  if (awaited) awaited->add_obstacles(all);
}

void add_wait_chain(const WaitChain& more, WaitChain& all) {
  for (const WaitLink& one : more) {
    if (all.size() >= kMostWaitLinks || has(all, one.node)) return;
    all.push_back(one);
  }
}

OpenCall open_call(const LocalProcess& process, const Caller& caller, std::uint32_t callee, std::string_view method,
                   const CallScope& scope, OpenCall::State state) {
  OpenCall call{.caller = process.name(caller.node),
                .callee = process.name(callee),
                .method = std::string(method),
                .chain = scope.chain,
                .state = state};
  if (scope.deadline == kNever) return call;
  const Duration left = scope.deadline - now();
  call.left = std::max(to_seconds(left), 0.0);
  if (scope.allowed > Duration::zero()) call.seconds = std::max(to_seconds(scope.allowed - left), 0.0);
  return call;
}

std::string work_text(const WaitLink& link, const LocalProcess& process) {
  return link.work + "()" + (link.caller < process.size() ? ", called by " + process.name(link.caller) : "");
}

std::string text_of(const WaitChain& all, std::uint32_t caller, const LocalProcess& process) {
  std::string text;
  for (const WaitLink& one : all) {
    const bool called = one.caller < process.size();
    text += "; " + process.name(one.node) + " has been in " + work_text(one, process) + (called ? ", for " : " for ") +
            duration_text(one.age);
    if (one.awaited < process.size())
      text += ", and waits there for " + process.name(one.awaited) + "." + one.method + "()";
  }
  if (all.empty() || all.back().awaited >= process.size()) return text;
  const bool circle = all.back().awaited == caller || has(all, all.back().awaited);
  return text + (circle ? ": they wait for one another, in a circle" : "");
}

}  // namespace lp::rpc
