#include "nodes/serving/cache.h"

#include "lp/base/text.h"

namespace lp {

void check(const CacheOptions& options) {
  if (options.most_calls == 0) throw_failed("a cache with most_calls 0 can call nothing: give 1 at least");
  if (options.room > 0 && options.refresh >= Duration::zero() && options.stale >= options.refresh) return;
  throw Error(ErrorKind::failed, "a cache with room for " + std::to_string(options.room) +
                                     " answers, a refresh after " + duration_text(options.refresh) +
                                     " and stale answers after " + duration_text(options.stale) +
                                     ": give room for 1 at least, and 0 <= refresh <= stale");
}

void refuse_call(std::size_t most) {
  throw Error(ErrorKind::overloaded, "the cache waits for " + std::to_string(most) +
                                         " answers already: try again later, or give it more CacheOptions::most_calls");
}

}  // namespace lp
