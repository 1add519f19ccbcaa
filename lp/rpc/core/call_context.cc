#include "lp/rpc/core/call_context.h"

#include <atomic>

#include "lp/base/error.h"
#include "lp/base/hash.h"
#include "lp/rpc/core/service_instance.h"

namespace lp::rpc {
namespace {

thread_local CallContext* t_frame = nullptr;

// Returns the path of a call that `frame` makes.
CallPath path_through(const CallContext& frame) {
  CallPath path = callers_of(frame);
  if (path.size == CallPath::kLimit) {
    throw Error(ErrorKind::failed,
                "a chain of calls is longer than " + std::to_string(CallPath::kLimit) +
                    " nodes, and no more are allowed: send, or answer from a later call, instead of calling on",
                {.node = frame.node->name()});
  }
  path.nodes[path.size++] = frame.node->id();
  return path;
}

}  // namespace

CallContext* current_call_context() noexcept { return t_frame; }
Time call_deadline() noexcept { return t_frame == nullptr ? kNever : t_frame->deadline; }

CallContextScope::CallContextScope(CallContext& frame) noexcept : outer_(t_frame) { t_frame = &frame; }
CallContextScope::~CallContextScope() { t_frame = outer_; }

std::uint64_t new_chain() noexcept {
  static std::atomic<std::uint64_t> threads{0};
  // An odd number is never 0.
  thread_local std::uint64_t next = mix64(static_cast<std::uint64_t>(wall_clock()) + (threads.fetch_add(1) << 48)) | 1;
  return next += 2;
}

CallPath callers_of(const CallContext& frame) {
  if (frame.caller != nullptr) return path_through(*frame.caller);
  return frame.path != nullptr ? *frame.path : CallPath();
}

CallScope scope_for_call(const CallContext* frame, Duration timeout) {
  CallScope scope;
  scope.deadline = after(timeout);
  scope.allowed = timeout;
  if (frame == nullptr || frame->node == nullptr) {
    scope.chain = new_chain();
    return scope;
  }
  if (frame->deadline < scope.deadline) {
    scope.allowed = scope.deadline == kNever ? until(frame->deadline) : timeout - (scope.deadline - frame->deadline);
    scope.deadline = frame->deadline;
  }
  scope.chain = frame->chain != 0 ? frame->chain : new_chain();
  scope.path = path_through(*frame);
  return scope;
}

}  // namespace lp::rpc
