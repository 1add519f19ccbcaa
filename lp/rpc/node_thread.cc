#include "lp/rpc/node_thread.h"

#include <utility>

#include "lp/rpc/core/frame.h"

namespace lp {

Thread spawn_in_node(std::string name, Function<void()> body) {
  const internal::Frame* const here = internal::current_frame();
  if (here == nullptr) return spawn(std::move(name), std::move(body));
  return spawn(std::move(name), [node = here->node, body = std::move(body)]() mutable {
    internal::Frame frame{.node = node};
    const internal::FrameScope scope(frame);
    body();
  });
}

}  // namespace lp
