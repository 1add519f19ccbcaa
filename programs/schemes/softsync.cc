#include "programs/schemes/softsync.h"

#include "programs/schemes/asynchronous.h"

namespace lp {

// Workers do the same as asynchronous ones; only the servers differ.
Scheme softsync_scheme(const ServerTraining& training, std::uint32_t splits, int leaves) {
  Scheme scheme = asynchronous_scheme(training);
  scheme.consistency = Softsync{.splits = splits};
  if (leaves > 0) {
    scheme.levels = {leaves};
    scheme.takes_rows = false;
  }
  return scheme;
}

}  // namespace lp
