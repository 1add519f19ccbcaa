#pragma once
// The place of the current thread: the node whose code it runs, the call, and its deadline. Deadlines, call paths and
// turns all follow from it. A CallContext lives on the stack of the thread that runs the handler; only that thread uses
// it.

#include <array>
#include <cstdint>
#include <span>

#include "lp/base/scheduler.h"
#include "lp/rpc/observation/span_recorder.h"
#include "lp/wire/node_id.h"

namespace lp {

namespace rpc {

class ServiceInstance;

// The nodes through which a call came, outermost first.
struct CallPath {
  static constexpr std::size_t kLimit = 32;  // a deeper chain is refused
  std::uint8_t size = 0;
  std::array<NodeId, kLimit> nodes;

  std::span<const NodeId> span() const { return {nodes.data(), size}; }
  CallPath() {}  // the array stays unset: a path is copied by its size
  CallPath(const CallPath& other) { *this = other; }
  CallPath& operator=(const CallPath& other) {
    size = other.size;
    for (std::uint8_t i = 0; i < size; ++i) nodes[i] = other.nodes[i];
    return *this;
  }
};

// The data that a call carries from its caller to its handler, wherever that is.
struct CallScope {
  Time deadline = kNever;
  Duration allowed{};       // time that the call had when it was made; known at the caller
  std::uint64_t chain = 0;  // equal for all calls that one root call caused
  BegunSpan span{};         // at the callee only the number is known
  CallPath path{};          // the callers
};

struct CallContext {
  ServiceInstance* node = nullptr;  // the node whose code runs
  Time deadline = kNever;           // deadline of the call that runs the code
  std::uint64_t chain = 0;          // 0 in run(): each call from there begins a chain
  std::uint64_t span = 0;           // the span that runs the code; 0: it is not recorded
  bool holds_turn = false;
  const CallPath* path = nullptr;       // the callers that are not in this thread; may be null
  const CallContext* caller = nullptr;  // the context that called directly, in this thread
};

// The context of this thread; null outside all nodes.
CallContext* current_call_context() noexcept;
// When the caller of the present handler gives up; kNever outside handlers.
Time call_deadline() noexcept;
// Throws Error::stopped when the node whose code this thread runs was asked to stop; outside nodes it does nothing.
// Code that computes for long without a wait calls it now and then.
void check_stop();

// Makes `context` current while it lives.
class CallContextScope {
 public:
  explicit CallContextScope(CallContext& context) noexcept;
  ~CallContextScope();
  CallContextScope(const CallContextScope&) = delete;
  CallContextScope& operator=(const CallContextScope&) = delete;

 private:
  CallContext* outer_;
};

// The span that runs the code of this thread, at the moment when this object is made.
class SpanOfCode {
 public:
  SpanOfCode() noexcept : span_(current_call_context() == nullptr ? 0 : current_call_context()->span) {}
  std::uint64_t span() const noexcept { return span_; }  // 0: none, or it is not recorded
  // Makes it run the code of this thread again.
  void restore() const noexcept {
    if (CallContext* const context = current_call_context(); context != nullptr) context->span = span_;
  }

 private:
  const std::uint64_t span_;
};

// Returns a number that no other chain of this process has, nor, in all likelihood, any other chain of this run.
std::uint64_t new_chain() noexcept;

// Returns the nodes whose calls led to `context`, without its own.
CallPath callers_of(const CallContext& context);

// Begins the span of a call, or of a part of the code, that `context` (may be null) makes. Code that no call runs makes
// roots; other code makes spans that are recorded if its call is, and there is room for more.
inline BegunSpan begin_span(const CallContext* context, SpanRecorder& recorder) noexcept {
  const bool root = context == nullptr || context->chain == 0;
  if (root ? !recorder.samples() : context->span == 0 || !recorder.samples_below()) return {};
  return {.id = new_chain(),  // as unique as a chain
          .parent = context == nullptr ? 0 : context->span,
          .begin = now(),
          .thread = thread_id()};
}
// Returns the record of a span that ends now; its kind, its nodes and its name are still to be set.
SpanRecord end_span(const BegunSpan& span) noexcept;

// Returns the scope of a call that `context` (may be null) makes, with at most `timeout` from now. Throws Error::failed
// when the path is longer than CallPath::kLimit.
CallScope scope_for_call(const CallContext* context, Duration timeout);

}  // namespace rpc
}  // namespace lp
