#include "nodes/serving/cache.h"

#include "lp/base/text.h"

namespace lp {

void check(const CacheOptions& options) {
  if (options.room > 0 && options.refresh >= Duration::zero() && options.stale >= options.refresh) return;
  throw Error(ErrorKind::failed, "a cache with room for " + std::to_string(options.room) +
                                     " answers, a refresh after " + duration_text(options.refresh) +
                                     " and stale answers after " + duration_text(options.stale) +
                                     ": give room for 1 at least, and 0 <= refresh <= stale");
}

}  // namespace lp
