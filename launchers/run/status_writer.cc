#include "launchers/run/status_writer.h"

#include <algorithm>

namespace lp::internal {
namespace {
constexpr auto kStatusPeriod = std::chrono::milliseconds(300);
constexpr int kStatusShare = 20;  // writing the status may take at most one kStatusShare-th of the time
}  // namespace

void StatusWriter::write(bool always, Function<void()> write) {
  if (!always && (!changed_ || now() < next_)) return;
  const Time begin = now();
  write();
  changed_ = false;
  next_ = after(std::max<Duration>(kStatusPeriod, (now() - begin) * kStatusShare));
}

}  // namespace lp::internal
