#include "nodes/parameters/consistency.h"

#include <string>

#include "lp/base/error.h"

namespace lp {

void check(const Consistency& consistency, std::uint32_t workers) {
  if (workers == 0) throw Error(ErrorKind::failed, "a parameter server needs at least one worker");
  if (std::visit([=](const auto& one) { return one.needed(workers, workers); }, consistency) > 0) return;
  const bool splits = std::holds_alternative<Softsync>(consistency);
  throw Error(ErrorKind::failed, "an update of a parameter server would take 0 gradients of " +
                                     std::to_string(workers) + " workers: give " +
                                     (splits ? "splits from 1 to the workers" : "fewer backup workers"));
}

}  // namespace lp
