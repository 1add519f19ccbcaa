#pragma once
// Why a call has no reply yet: the work of its callee, the call that this work waits for, the work of that call's
// callee, and so on. Gathered only when a call has waited long, or when somebody asks. Values and functions; any
// thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lp/rpc/observation/waits.h"
#include "lp/wire/envelope.h"

namespace lp::rpc {

class LocalProcess;
class ServiceInstance;
struct CallScope;
struct Caller;

// A call, for people.
struct CallName {
  std::uint32_t callee = WaitLink::kNobody;
  std::string method{};
  std::uint64_t chain = 0;
  bool item = false;  // the next item of its stream
};

// Adds the work of the node and the calls that it waits for; each node once. Adds nothing when its turn is free.
void add_wait_chain(const ServiceInstance& node, WaitChain& all);
void add_wait_chain(const WaitChain& more, WaitChain& all);

// A call for a list of open calls.
OpenCall open_call(const LocalProcess& process, const Caller& caller, std::uint32_t callee, std::string_view method,
                   const CallScope& scope, OpenCall::State state);

// "pull(), called by worker/1".
std::string work_text(const WaitLink& link, const LocalProcess& process);
// "; a has been in f(), called by x, for 3 s, and waits there for b.g(); ..." `caller`: the node whose call waits for
// the first. The text reports a circle. It is empty when there are none.
std::string text_of(const WaitChain& all, std::uint32_t caller, const LocalProcess& process);

}  // namespace lp::rpc
