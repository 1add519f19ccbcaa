#pragma once
// Whether the counts that a learner has logged have ever gone back. Pure.

#include <gtest/gtest.h>

#include <vector>

#include "nodes/metrics.h"

namespace lp {

inline void expect_ascending(const MetricSeries& series) {
  for (const char* name : {"updates", "episodes", "stale"}) {
    const std::vector<MetricPoint>& points = series.at(name);
    for (std::size_t i = 1; i < points.size(); ++i) {
      EXPECT_GE(points[i].step, points[i - 1].step) << name;
      EXPECT_GE(points[i].value, points[i - 1].value) << name << " at " << points[i].step;
    }
  }
}

}  // namespace lp
