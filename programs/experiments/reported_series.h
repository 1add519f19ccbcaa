#pragma once
// The values that the learner and the evaluator of an experiment have reported (Context::report), over environment
// steps, as an lp::Run keeps them in its directory: from the first step on, whatever was restarted, or resumed from an
// earlier run. A Metrics node begins without values then. Pure; any thread.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "nodes/metrics.h"

namespace lp {

using ReadSeries = std::function<MetricSeries()>;

// The learner reports over its updates, and with each report the environment steps; the evaluator over these. Takes
// what Run::curves returns.
template <class NodeCurves>
MetricSeries series_over_steps(const NodeCurves& learner, const NodeCurves& evaluator) {
  constexpr double kMost = 1e18;  // steps; a record may be damaged
  MetricSeries out;
  std::map<std::uint64_t, std::uint64_t> steps;  // by update
  if (const auto found = learner.find("steps"); found != learner.end()) {
    for (const auto& one : found->second) {
      if (one.value >= 0 && one.value < kMost) steps[one.step] = static_cast<std::uint64_t>(one.value);
    }
  }
  for (const auto& [name, points] : learner) {
    for (const auto& one : points) {
      if (const auto at = steps.find(one.step); at != steps.end() && name != "steps") {
        out[name].push_back({.step = at->second, .seconds = one.time, .value = one.value});
      }
    }
  }
  for (const auto& [name, points] : evaluator) {
    for (const auto& one : points) out[name].push_back({.step = one.step, .seconds = one.time, .value = one.value});
  }
  for (auto& [name, points] : out) {  // a learner that was restored may have fewer steps at an update than before
    std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  }
  return out;
}

// Reads the series of a run. None if it has no directory. Error::failed when a file cannot be read.
template <class Run>
ReadSeries reported_series(const Run& run) {
  return [&run] { return series_over_steps(run.curves("learner"), run.curves("evaluator")); };
}

}  // namespace lp
