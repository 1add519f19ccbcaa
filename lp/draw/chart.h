#pragma once
// Draws series of numbers as curves over a common axis, with a grid and a legend, in pictures that any browser shows.
// An axis of positive values that lie far apart is logarithmic. Of many points, each column of the picture keeps the
// first, the last, the lowest and the highest. Pure functions; any thread.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lp {

// Points joined by a line, in the order of x. The line has a gap where y is not finite.
struct Curve {
  struct Point {
    double x = 0;
    double y = 0;
  };
  std::string name{};
  std::vector<Point> points{};
};

struct Chart {
  std::string title{};
  std::vector<Curve> curves{};
  std::string x{"steps"};  // the name of the horizontal axis
};

// Returns the charts as one picture, SVG 1.1, two side by side.
std::string to_svg(std::span<const Chart> charts);
// Writes that picture. Error::failed when the file cannot be written.
void write_charts(const std::filesystem::path& file, std::span<const Chart> charts);

// For a page in HTML: the chart as an element, and the style sheet that all its charts need, for light and dark.
std::string chart_element(const Chart& chart);
std::string chart_style();

}  // namespace lp
