#include "lp/rpc/call.h"

#include <utility>

#include "lp/rpc/hub.h"
#include "lp/rpc/node_core.h"

namespace lp::internal {

void Call::run() noexcept {
  if (!wanted()) {
    finish();
    return;
  }
  if (now() >= scope_.deadline) {
    fail_call(Error(ErrorKind::deadline, "its time was over before its turn came",
                    {.node = node_->name(), .method = std::string(method_->name)}));
    finish();
    return;
  }
  if (method_->traits.once && caller_.sequence != 0 && !node_->once().begin(*this)) return;
  Frame frame{.node = node_,
              .deadline = scope_.deadline,
              .chain = scope_.chain,
              .holds_turn = method_->traits.concurrent == 0,
              .path = &scope_.path};
  {
    const FrameScope scope(frame);
    try {
      prepare();
      invoke();
    } catch (...) {
      const Error error = node_->failure(*method_, scope_, std::current_exception());
      if (method_->traits.once && caller_.sequence != 0) node_->once().finish(caller_, {.error = error});
      settle(error);
    }
  }
  finish();
}

void Call::settle(const Error& error) noexcept {
  if (error.kind() == ErrorKind::stopped && node_->stopping()) {
    fail_lost();
  } else {
    fail_call(error);
  }
}

void Call::refuse(const Error& error) noexcept {
  if (node_ == nullptr) {
    fail_call(error);
  } else {
    ErrorOrigin origin = error.origin();
    origin.method = method_->name;
    origin.path = node_->hub().names(scope_.path);
    fail_call(Error(error.kind(), error.text(), std::move(origin)));
  }
  finish();
}

CallScope scope_of_frame(const Frame& frame) {
  CallScope scope;
  scope.deadline = frame.deadline;
  scope.chain = frame.chain != 0 ? frame.chain : new_chain();
  scope.path = callers_of(frame);
  return scope;
}

}  // namespace lp::internal
