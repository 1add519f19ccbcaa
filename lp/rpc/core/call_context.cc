#include "lp/rpc/core/call_context.h"

#include <atomic>
#include <string>

#include "lp/base/error.h"
#include "lp/base/hash.h"
#include "lp/rpc/core/service_instance.h"

namespace lp::rpc {
namespace {

thread_local CallContext* t_context = nullptr;

// Returns the path of a call that `context` makes.
CallPath path_through(const CallContext& context) {
  CallPath path = callers_of(context);
  if (path.size == CallPath::kLimit) {
    throw Error(ErrorKind::failed,
                "a chain of calls is longer than " + std::to_string(CallPath::kLimit) +
                    " nodes, the limit: use send, or answer in a later call, instead of calling the next node",
                {.node = context.node->name()});
  }
  path.nodes[path.size++] = context.node->id();
  return path;
}

}  // namespace

CallContext* current_call_context() noexcept { return t_context; }
Time call_deadline() noexcept { return t_context == nullptr ? kNever : t_context->deadline; }
void check_stop() {
  if (t_context != nullptr && t_context->node->stopping()) throw t_context->node->stopped_error();
}

CallContextScope::CallContextScope(CallContext& context) noexcept : outer_(t_context) { t_context = &context; }
CallContextScope::~CallContextScope() { t_context = outer_; }

std::uint64_t new_chain() noexcept {
  static std::atomic<std::uint64_t> threads{0};
  // An odd number is never 0.
  thread_local std::uint64_t next = mix64(static_cast<std::uint64_t>(wall_clock()) + (threads.fetch_add(1) << 48)) | 1;
  return next += 2;
}

SpanRecord end_span(const BegunSpan& span) noexcept {
  return {.id = span.id, .parent = span.parent, .begin = span.begin, .end = now(), .thread = span.thread};
}

CallPath callers_of(const CallContext& context) {
  if (context.caller != nullptr) return path_through(*context.caller);
  return context.path != nullptr ? *context.path : CallPath();
}

CallScope scope_for_call(const CallContext* context, Duration timeout) {
  CallScope scope;
  scope.deadline = after(timeout);
  scope.allowed = timeout;
  if (context == nullptr || context->node == nullptr) {
    scope.chain = new_chain();
    return scope;
  }
  if (context->deadline < scope.deadline) {
    scope.allowed =
        scope.deadline == kNever ? until(context->deadline) : timeout - (scope.deadline - context->deadline);
    scope.deadline = context->deadline;
  }
  scope.chain = context->chain != 0 ? context->chain : new_chain();
  scope.path = path_through(*context);
  return scope;
}

}  // namespace lp::rpc
