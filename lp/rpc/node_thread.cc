#include "lp/rpc/node_thread.h"

#include <utility>

#include "lp/rpc/core/call_context.h"

namespace lp {

Thread spawn_in_node(std::string name, Function<void()> body) {
  const internal::CallContext* const here = internal::current_call_context();
  if (here == nullptr) return spawn(std::move(name), std::move(body));
  return spawn(std::move(name), [node = here->node, body = std::move(body)]() mutable {
    internal::CallContext frame{.node = node};
    const internal::CallContextScope scope(frame);
    body();
  });
}

}  // namespace lp
