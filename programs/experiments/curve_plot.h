#pragma once
// Draws series of metrics as curves, in a picture that any browser shows. Pure: any thread.

#include <filesystem>
#include <string>
#include <vector>

#include "nodes/metrics.h"

namespace lp {

// Points joined by a line.
struct Curve {
  std::string name{};
  std::vector<MetricPoint> points{};
};

// Draws the values of these curves over their steps, as SVG 1.1. Values that are not finite are left out.
std::string curves_svg(const std::string& title, const std::vector<Curve>& curves);

// Writes the picture. Error::failed when the file cannot be written.
void write_curves(const std::filesystem::path& file, const std::string& title, const std::vector<Curve>& curves);

}  // namespace lp
