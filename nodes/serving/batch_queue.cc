#include "nodes/serving/batch_queue.h"

#include <string>

namespace lp {

void check(const BatchOptions& options) {
  if (options.most > 0 && options.room > 0 && options.wait >= Duration::zero()) return;
  throw Error(ErrorKind::failed, "batches of " + std::to_string(options.most) + " requests, with room for " +
                                     std::to_string(options.room) + " and a wait of " + duration_text(options.wait) +
                                     ": give at least 1 request and room for at least 1, and no negative wait");
}

void refuse_without_room(std::size_t room) {
  throw Error(ErrorKind::overloaded, std::to_string(room) + " requests wait already: try again later");
}

void refuse_late(Duration needed, Duration left) {
  throw Error(ErrorKind::overloaded, "an answer takes about " + duration_text(needed) + ", and the call has " +
                                         duration_text(std::max(left, Duration::zero())) +
                                         " left: try again later, or allow more time");
}

}  // namespace lp
