#pragma once
// A part of the code that lp trace shows under a name:
//
//   void push(const Batch& batch) {
//     const lp::Span span("decode");
//     decode(batch);
//   }
//
// It lasts as long as the object, also when a coroutine is suspended meanwhile. The calls and the spans that begin in
// it become its children. While no trace is recorded it costs a few nanoseconds. In a handler it is recorded if the
// call is; elsewhere it is a root. A thread that lp does not know as a node's (lp/rpc/node_thread.h) records nothing.
//
// Made and destroyed by code of a node, the inner one first; it may be destroyed in another thread.

#include <cstdint>
#include <string_view>

#include "lp/rpc/core/call_context.h"

namespace lp {

class [[nodiscard]] Span {
 public:
  // The name is copied; of a long one, the first SpanRecord::kLongestName bytes.
  explicit Span(std::string_view name) noexcept {
    rpc::CallContext* const context = rpc::current_call_context();
    if (context != nullptr) begin(*context, name);
  }
  ~Span() {
    if (record_.id != 0) end();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  void begin(rpc::CallContext& context, std::string_view name) noexcept;
  void end() noexcept;

  SpanRecord record_{};  // id 0: it is not recorded
  SpanRecorder* recorder_ = nullptr;
};

}  // namespace lp
