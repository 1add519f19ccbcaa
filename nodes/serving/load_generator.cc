#include "nodes/serving/load_generator.h"

#include <algorithm>

namespace lp {

double LoadReport::share(std::uint64_t count) const {
  return asked() == 0 ? 0 : static_cast<double>(count) / static_cast<double>(asked());
}

double LoadReport::quantile(double share) const {
  if (milliseconds.empty()) return 0;
  std::vector<float> sorted = milliseconds;
  const auto place = static_cast<std::size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)));
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(place), sorted.end());
  return static_cast<double>(sorted[place]);
}

void LoadReport::add(const LoadReport& other) {
  seconds = std::max(seconds, other.seconds);
  answered += other.answered;
  refused += other.refused;
  late += other.late;
  failed += other.failed;
  milliseconds.insert(milliseconds.end(), other.milliseconds.begin(), other.milliseconds.end());
}

namespace internal {

void LoadTally::begin() {
  wait_below(room_ - 1);
  const std::lock_guard lock(mutex_);
  ++under_way_;
}

void LoadTally::finish() { wait_below(0); }

void LoadTally::failed(const Error& error) {
  const std::lock_guard lock(mutex_);
  switch (error.kind()) {
    case ErrorKind::overloaded: ++report_.refused; break;
    case ErrorKind::deadline: ++report_.late; break;
    default: ++report_.failed;
  }
  end();
}

LoadReport LoadTally::take(double seconds) {
  const std::lock_guard lock(mutex_);
  report_.seconds = seconds;
  return std::move(report_);
}

// Waits until at most `count` requests are under way.
void LoadTally::wait_below(std::size_t count) {
  Future<void> fewer;
  {
    const std::lock_guard lock(mutex_);
    if (under_way_ <= count) return;
    wanted_ = count;
    fewer = waiter_.emplace().future();
  }
  fewer.get();
}

void LoadTally::end() {
  --under_way_;
  if (waiter_ && under_way_ <= wanted_) std::exchange(waiter_, std::nullopt)->set_value();
}

void wait_until(Time time) {
  if (passed(time)) return;
  Promise<void> never;
  never.future().wait_for(until(time));
}

}  // namespace internal
}  // namespace lp
