#include "lp/rpc/node_thread.h"

#include <utility>

#include "lp/rpc/core/call_context.h"

namespace lp {

Thread spawn_in_node(std::string name, Function<void()> body) {
  const rpc::CallContext* const here = rpc::current_call_context();
  if (here == nullptr) return spawn(std::move(name), std::move(body));
  return spawn(std::move(name), [node = here->node, span = here->span, body = std::move(body)]() mutable {
    rpc::CallContext context{.node = node, .span = span};
    const rpc::CallContextScope scope(context);
    body();
  });
}

}  // namespace lp
