#pragma once
// Draws series of a Metrics node over their steps. Pure: any thread.

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lp/draw/chart.h"
#include "nodes/metrics.h"

namespace lp {

Curve curve_of(const std::string& name, const std::vector<MetricPoint>& points);

// A series, and its name in the picture.
using SeriesLabel = std::pair<std::string, std::string>;

// Writes a chart of those of the series that there are, as SVG. Error::failed when the file cannot be written.
void write_chart(const std::filesystem::path& file, const std::string& title, const MetricSeries& series,
                 std::span<const SeriesLabel> labels);

}  // namespace lp
