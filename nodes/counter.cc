#include "nodes/counter.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp {

Counts Counter::add(const Counts& increments) {
  std::size_t names = counts_.size();
  for (const auto& [name, increment] : increments) {
    const auto found = counts_.find(name);
    if (found == counts_.end()) ++names;
    const std::int64_t before = found == counts_.end() ? 0 : found->second;
    if (increment < 0 || increment > std::numeric_limits<std::int64_t>::max() - before) {
      throw Error(ErrorKind::failed, "the count " + quote(name) + " is " + std::to_string(before) + ", and " +
                                         std::to_string(increment) +
                                         " cannot be added: counts grow, up to 9,223,372,036,854,775,807");
    }
  }
  if (names > kMostNames) {
    throw Error(ErrorKind::failed, "this would make " + std::to_string(names) + " counts, but a counter can have " +
                                       std::to_string(kMostNames) +
                                       ": the name of a count should say what is counted, not when or by which node");
  }
  for (const auto& [name, increment] : increments) counts_[name] += increment;
  const auto waits = std::partition(waiting_.begin(), waiting_.end(),
                                    [this](const Waiting& one) { return count(one.name) < one.count; });
  for (auto one = waits; one != waiting_.end(); ++one) one->promise.set_value(count(one->name));
  waiting_.erase(waits, waiting_.end());
  return counts_;
}

Future<std::int64_t> Counter::reached(std::string name, std::int64_t wanted) {
  if (count(name) >= wanted) return ready(count(name));
  waiting_.push_back({.name = std::move(name), .count = wanted, .promise = {}});
  return waiting_.back().promise.future();
}

std::int64_t Counter::count(const std::string& name) const {
  const auto found = counts_.find(name);
  return found == counts_.end() ? 0 : found->second;
}

SavedCounter::SavedCounter(Context& context, CutBy cuts) : context_(context), cuts_(std::move(cuts)) {
  if (cuts_.every <= 0) {
    throw Error(ErrorKind::failed, "a counter would save a checkpoint every " + std::to_string(cuts_.every) + " of " +
                                       quote(cuts_.count) + ": give a number above 0");
  }
}

Counts SavedCounter::add(const Counts& increments) {
  const std::int64_t before = count(cuts_.count) / cuts_.every;
  Counts counts = Counter::add(increments);
  const std::int64_t multiples = count(cuts_.count) / cuts_.every;
  if (multiples > before) context_.checkpoint(static_cast<std::uint64_t>(multiples * cuts_.every));
  return counts;
}

void SavedCounter::save(Checkpoint& out) const { out.put("counts", counts()); }
void SavedCounter::load(const Checkpoint& in) { set(in.get<Counts>("counts")); }

}  // namespace lp
