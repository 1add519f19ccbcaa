#include "lp/draw/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "lp/base/file.h"
#include "lp/draw/scale.h"
#include "lp/draw/svg_text.h"

namespace lp {
namespace {

using internal::Scale;
using internal::svg_attribute;
using internal::svg_cut;
using internal::svg_escaped;
using internal::svg_number;
using internal::svg_width;

// Pixels.
constexpr double kChartWidth = 560;
constexpr double kPlotHeight = 260;
constexpr double kPlotTop = 40;
constexpr double kPlotRight = kChartWidth - 20;
constexpr double kTextHeight = 17;
constexpr double kFontSize = 12;
constexpr double kGap = 24;     // between charts
constexpr double kColumn = 1;   // points in a column of this width are thinned
constexpr double kSample = 18;  // the line before a name in the legend

constexpr std::size_t kColours = 8;  // classes c0, c1, ...; then they come again with dashes
constexpr std::size_t kDashes = 4;
constexpr std::size_t kMostNames = 16;  // in a legend
constexpr std::size_t kLongestName = 60;

// Colours that people with a colour vision deficiency tell apart (Okabe and Ito, 2008, darkened for lines on white; and
// brightened for lines on black).
constexpr std::array<const char*, kColours> kLight = {"#0063a8", "#c4501b", "#00805a", "#a8488a",
                                                      "#8a6d00", "#2f8fc4", "#5b6876", "#7a3db8"};
constexpr std::array<const char*, kColours> kDark = {"#5aaef0", "#f0885a", "#3cc79a", "#e08ac4",
                                                     "#dcb93c", "#8ad0f5", "#a3b0bd", "#b794f0"};

constexpr const char* kChartStyle =
    ".chart text { font-family: Helvetica, Arial, sans-serif; font-size: 12px; fill: #1c2733 }\n"
    ".chart .title { font-size: 14px; font-weight: bold }\n"
    ".chart .grid { stroke: #dfe4e8; stroke-width: 1; fill: none }\n"
    ".chart .curve { fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round }\n"
    ".chart .d1 { stroke-dasharray: 7 4 }\n.chart .d2 { stroke-dasharray: 2 4 }\n"
    ".chart .d3 { stroke-dasharray: 9 4 2 4 }\n";

std::string colour_rules(const std::array<const char*, kColours>& colours) {
  std::string rules;
  for (std::size_t i = 0; i < kColours; ++i) {
    rules += ".chart .c" + std::to_string(i) + " { stroke: " + colours[i] + " }\n";
  }
  return rules;
}

std::string class_of(std::size_t curve) {
  return "\"curve c" + std::to_string(curve % kColours) + " d" + std::to_string(curve / kColours % kDashes) + "\"";
}

std::string label_at(double x, double y, const std::string& text, const char* anchor = "start",
                     const char* kind = nullptr) {
  return "<text" + (kind == nullptr ? "" : " class=\"" + std::string(kind) + "\"") + svg_attribute("x", x) +
         svg_attribute("y", y) + " text-anchor=\"" + anchor + "\">" + svg_escaped(text) + "</text>\n";
}

std::string point_text(char command, double x, double y) { return command + svg_number(x) + "," + svg_number(y) + " "; }

// Draws one chart. The place of its upper left corner is 0, 0.
class ChartDrawing {
 public:
  explicit ChartDrawing(const Chart& chart)
      : chart_(chart), x_(values(&Curve::Point::x), false), y_(values(&Curve::Point::y), true) {
    for (const Scale::Mark& mark : y_.marks()) left_ = std::max(left_, svg_width(mark.text, kFontSize) + 14);
    left_ = std::min(left_, 120.0);
    place_names();
  }

  double height() const { return bottom() + 2.4 * kTextHeight + (rows_ == 0 ? 0 : rows_ + 0.5) * kTextHeight; }

  std::string body() const {
    std::string out =
        label_at(4, 22, svg_cut(chart_.title + (y_.logarithmic() ? " (logarithmic)" : ""), 70), "start", "title");
    out += grid();
    for (std::size_t i = 0; i < chart_.curves.size(); ++i) {
      out += "<path class=" + class_of(i) + " d=\"" + path_of(chart_.curves[i]) + "\"/>\n";
    }
    return out + legend();
  }

 private:
  struct Name {
    std::string text{};
    double x = 0;
    double row = 0;
    std::size_t curve = 0;
  };

  static double bottom() { return kPlotTop + kPlotHeight; }
  double x(double value) const { return left_ + (kPlotRight - left_) * x_.share(value); }
  double y(double value) const { return bottom() - kPlotHeight * y_.share(value); }

  std::vector<double> values(double Curve::Point::*coordinate) const {
    std::vector<double> all;
    for (const Curve& curve : chart_.curves) {
      for (const Curve::Point& point : curve.points) {
        if (std::isfinite(point.x) && std::isfinite(point.y)) all.push_back(point.*coordinate);
      }
    }
    return all;
  }

  void place_names() {
    const auto& curves = chart_.curves;
    if (curves.empty() || (curves.size() == 1 && curves[0].name.empty())) return;
    double across = left_;
    rows_ = 1;
    const auto place = [&](std::string text, std::size_t curve) {
      const double width = kSample + 6 + svg_width(text, kFontSize) + 14;
      if (across > left_ && across + width > kPlotRight) {
        across = left_;
        ++rows_;
      }
      names_.push_back({std::move(text), across, rows_, curve});
      across += width;
    };
    for (std::size_t i = 0; i < std::min(curves.size(), kMostNames); ++i) {
      place(svg_cut(curves[i].name, kLongestName), i);
    }
    if (curves.size() > kMostNames) place("and " + std::to_string(curves.size() - kMostNames) + " more", curves.size());
  }

  std::string legend() const {
    std::string out;
    for (const Name& name : names_) {
      const double at = bottom() + 2.4 * kTextHeight + name.row * kTextHeight;
      if (name.curve < chart_.curves.size()) {
        out += "<path class=" + class_of(name.curve) + " d=\"" + point_text('M', name.x, at - 4) + "h" +
               svg_number(kSample) + "\"/>";
      }
      out += label_at(name.x + kSample + 6, at, name.text);
    }
    return out;
  }

  std::string grid() const {
    std::string out;
    for (const Scale::Mark& mark : x_.marks()) {
      out +=
          "<path class=\"grid\" d=\"" + point_text('M', x(mark.value), kPlotTop) + "V" + svg_number(bottom()) + "\"/>";
      out += label_at(x(mark.value), bottom() + kTextHeight, mark.text, "middle");
    }
    for (const Scale::Mark& mark : y_.marks()) {
      out +=
          "<path class=\"grid\" d=\"" + point_text('M', left_, y(mark.value)) + "H" + svg_number(kPlotRight) + "\"/>";
      out += label_at(left_ - 8, y(mark.value) + 4, mark.text, "end");
    }
    const std::string below = x_.empty() ? "no values" : chart_.x;
    return out + label_at((left_ + kPlotRight) / 2, bottom() + 2.1 * kTextHeight, below, "middle");
  }

  // In each column of the picture, the first, the lowest, the highest and the last point stay, so that the line
  // looks as with all points (U. Jugel, Z. Jerzak, G. Hackenbroich, V. Markl: M4, 2014).
  std::string path_of(const Curve& curve) const {
    std::string path;
    bool down = false;  // the pen
    std::vector<std::pair<double, double>> column;
    const auto finish = [&] {
      if (column.empty()) return;
      const auto lower = [](const auto& a, const auto& b) { return a.second < b.second; };
      const auto [least, most] = std::minmax_element(column.begin(), column.end(), lower);
      std::vector<std::size_t> kept = {0, static_cast<std::size_t>(least - column.begin()),
                                       static_cast<std::size_t>(most - column.begin()), column.size() - 1};
      std::sort(kept.begin(), kept.end());
      kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
      for (const std::size_t i : kept) {
        path += point_text(std::exchange(down, true) ? 'L' : 'M', column[i].first, column[i].second);
      }
      column.clear();
    };
    const auto lift = [&] {
      const bool alone = !down && column.size() == 1;
      finish();
      if (alone) path += "h0 ";  // a dot
      down = false;
    };
    for (const Curve::Point& point : curve.points) {
      if (!std::isfinite(point.x) || !std::isfinite(point.y)) {
        lift();
        continue;
      }
      const double across = x(point.x);
      if (!column.empty() && std::abs(across - column.front().first) >= kColumn) finish();
      column.emplace_back(across, y(point.y));
    }
    lift();
    return path;
  }

  const Chart& chart_;
  Scale x_;
  Scale y_;
  double left_ = 40;
  double rows_ = 0;  // in the legend
  std::vector<Name> names_{};
};

std::string svg_begin(double width, double height, bool file) {
  return "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\"" +
         (file ? svg_attribute("width", width) + svg_attribute("height", height) : std::string()) + " viewBox=\"0 0 " +
         svg_number(width) + " " + svg_number(height) + "\">\n";
}

}  // namespace

std::string to_svg(std::span<const Chart> charts) {
  const std::size_t columns = charts.size() > 1 ? 2 : 1;
  std::string body;
  double top = kGap / 2;
  for (std::size_t first = 0; first < charts.size(); first += columns) {
    double height = 0;
    for (std::size_t i = first; i < std::min(first + columns, charts.size()); ++i) {
      const ChartDrawing drawing(charts[i]);
      const double left = kGap / 2 + static_cast<double>(i - first) * (kChartWidth + kGap);
      body +=
          "<g transform=\"translate(" + svg_number(left) + "," + svg_number(top) + ")\">\n" + drawing.body() + "</g>\n";
      height = std::max(height, drawing.height());
    }
    top += height + kGap;
  }
  const double width = static_cast<double>(columns) * (kChartWidth + kGap);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + svg_begin(width, std::max(top, 2 * kGap), true) +
         "<style>\n" + kChartStyle + colour_rules(kLight) +
         "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" + body + "</svg>\n";
}

void write_charts(const std::filesystem::path& file, std::span<const Chart> charts) {
  write_file_durably(file, to_svg(charts));
}

std::string chart_element(const Chart& chart) {
  const ChartDrawing drawing(chart);
  return svg_begin(kChartWidth, drawing.height(), false) + "<title>" + svg_escaped(chart.title) + "</title>\n" +
         drawing.body() + "</svg>\n";
}

std::string chart_style() {
  return kChartStyle + colour_rules(kLight) +
         "@media (prefers-color-scheme: dark) {\n.chart text { fill: #dbe2e8 }\n.chart .grid { stroke: #37414b }\n" +
         colour_rules(kDark) + "}\n";
}

}  // namespace lp
