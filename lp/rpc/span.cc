#include "lp/rpc/span.h"

#include "lp/rpc/core/local_process.h"
#include "lp/rpc/core/service_instance.h"

namespace lp {

void Span::begin(rpc::CallContext& context, std::string_view name) noexcept {
  recorder_ = &context.node->process().spans();
  const BegunSpan begun = rpc::begin_span(&context, *recorder_);
  if (!begun) return;
  record_.id = begun.id;
  record_.parent = begun.parent;
  record_.begin = begun.begin;
  record_.thread = begun.thread;
  record_.node = context.node->id();
  record_.set_name(name);
  context.span = record_.id;
}

void Span::end() noexcept {
  record_.end = now();
  recorder_->record(record_);
  rpc::CallContext* const context = rpc::current_call_context();
  if (context != nullptr && context->span == record_.id) context->span = record_.parent;
}

}  // namespace lp
