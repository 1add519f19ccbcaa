#include "launchers/record/usage.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <type_traits>

#include "launchers/record/records.h"
#include "lp/base/error.h"

namespace lp::launch {
namespace {

// Makes the counts of an interval as large as those of `looks` looks.
void scale_counts(UsageRecord::Interval& interval, double looks) {
  if (interval.looks == 0) return;
  const double factor = looks / interval.looks;
  const auto scale = [factor](std::integral auto& count) {
    count = static_cast<std::remove_reference_t<decltype(count)>>(std::llround(factor * static_cast<double>(count)));
  };
  for (UsageRecord::NodeUse& use : interval.nodes) {
    scale(use.works);
    scale(use.waits);
    scale(use.idle);
    scale(use.down);
    scale(use.queue);
  }
  for (UsageRecord::End& end : interval.ends) {
    end.looks *= factor;
    end.of_others *= factor;
  }
}

}  // namespace

std::optional<UsageRecord> earlier_usage(const std::filesystem::path& directory) {
  try {
    return read_record<UsageRecord>(directory / kUsageFile);
  } catch (const Error&) {  // the disk was full: the record begins again
    return std::nullopt;
  }
}

std::size_t most_intervals(std::size_t nodes) {
  constexpr std::size_t kAllNodes = 16'384;  // in all intervals together
  return std::clamp<std::size_t>(kAllNodes / std::max<std::size_t>(nodes, 1), 16, 240);
}

void add_interval(UsageRecord::Interval& into, const UsageRecord::Interval& next) {
  into.end = next.end;
  into.looks += next.looks;
  into.nodes.resize(std::max(into.nodes.size(), next.nodes.size()));
  for (std::size_t i = 0; i < next.nodes.size(); ++i) {
    UsageRecord::NodeUse& to = into.nodes[i];
    const UsageRecord::NodeUse& from = next.nodes[i];
    to.works += from.works;
    to.waits += from.waits;
    to.idle += from.idle;
    to.down += from.down;
    to.queue += from.queue;
    to.cpu += from.cpu;
    to.memory = std::max(to.memory, from.memory);
    to.step = from.step;
  }
  for (const UsageRecord::End& end : next.ends) {
    const auto at = std::find_if(into.ends.begin(), into.ends.end(), [&](const UsageRecord::End& one) {
      return one.node == end.node && one.work == end.work;
    });
    if (at == into.ends.end()) {
      into.ends.push_back(end);
    } else {
      at->looks += end.looks;
      at->of_others += end.of_others;
    }
  }
  std::stable_sort(into.ends.begin(), into.ends.end(), [](const auto& a, const auto& b) { return a.looks > b.looks; });
  if (into.ends.size() > UsageRecord::kEnds) into.ends.resize(UsageRecord::kEnds);
}

void halve_intervals(UsageRecord& record) {
  std::vector<UsageRecord::Interval> joined;
  for (std::size_t i = 0; i < record.intervals.size(); ++i) {
    if (i % 2 == 0) {
      joined.push_back(std::move(record.intervals[i]));
    } else {
      UsageRecord::Interval& first = joined.back();
      UsageRecord::Interval& second = record.intervals[i];
      const double seconds = second.end - first.begin;
      const std::uint32_t looks = first.looks + second.looks;
      if (seconds > 0) {
        const double share = std::clamp((first.end - first.begin) / seconds, 0.0, 1.0);
        scale_counts(first, share * looks);
        scale_counts(second, (1 - share) * looks);
      }
      add_interval(first, second);
    }
  }
  record.intervals = std::move(joined);
}

}  // namespace lp::launch
