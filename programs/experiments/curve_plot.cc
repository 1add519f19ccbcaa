#include "programs/experiments/curve_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "lp/base/file.h"

namespace lp {
namespace {

// Pixels.
constexpr double kWidth = 760;
constexpr double kHeight = 420;
constexpr double kLeft = 70;
constexpr double kTop = 46;
constexpr double kRight = 740;
constexpr double kBottom = 370;
constexpr double kLine = 16;
constexpr double kApart = 2;  // points that are closer to one another are left out, beside the last one

constexpr std::array kColours = {"#2f6fc4", "#c4572f", "#3c9a5f", "#8a4fb0", "#a08d2b", "#5b6876"};

constexpr const char* kStyle =
    "<style>\n"
    "text { font-family: Helvetica, Arial, sans-serif; font-size: 12px; fill: #1c2733 }\n"
    ".title { font-size: 16px; font-weight: bold }\n"
    ".grid { stroke: #e3e7eb; stroke-width: 1 }\n"
    ".curve { fill: none; stroke-width: 1.8; stroke-linejoin: round }\n"
    "</style>\n";

template <class... Values>
std::string text_of(const char* format, Values... values) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char one : text) {
    switch (one) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      default: out += static_cast<unsigned char>(one) < 0x20 ? '?' : one;
    }
  }
  return out;
}

struct Range {
  double least = 0;
  double most = 0;
  bool empty = true;

  void include(double value) {
    least = empty ? value : std::min(least, value);
    most = empty ? value : std::max(most, value);
    empty = false;
  }
  double share(double value) const { return most > least ? (value - least) / (most - least) : 0.5; }
};

// The round distance, 1, 2 or 5 times a power of ten, that divides the range into at most six parts.
double distance_of_ticks(const Range& range) {
  const double least = std::max((range.most - range.least) / 6, 1e-9);
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

struct Plot {
  Range steps{};
  Range values{};

  double x(double step) const { return kLeft + (kRight - kLeft) * steps.share(step); }
  double y(double value) const { return kBottom - (kBottom - kTop) * values.share(value); }
};

std::string grid(const Plot& plot) {
  std::string out;
  const double across = distance_of_ticks(plot.steps);
  for (double at = std::ceil(plot.steps.least / across) * across; at <= plot.steps.most; at += across) {
    out += text_of("<path class=\"grid\" d=\"M%.1f,%.1f V%.1f\"/>", plot.x(at), kTop, kBottom);
    out += text_of("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.6g</text>\n", plot.x(at), kBottom + kLine, at);
  }
  const double up = distance_of_ticks(plot.values);
  for (double at = std::ceil(plot.values.least / up) * up; at <= plot.values.most; at += up) {
    out += text_of("<path class=\"grid\" d=\"M%.1f,%.1f H%.1f\"/>", kLeft, plot.y(at), kRight);
    out += text_of("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n", kLeft - 8, plot.y(at) + 4, at);
  }
  return out + text_of("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">steps</text>\n", (kLeft + kRight) / 2,
                       kBottom + 2.4 * kLine);
}

std::string line(const Plot& plot, const Curve& curve, const char* colour) {
  std::string path;
  double drawn = 0;  // the place of the point before
  for (const MetricPoint& point : curve.points) {
    const double x = plot.x(static_cast<double>(point.step));
    const bool last = &point == &curve.points.back();
    if (!std::isfinite(point.value) || (!path.empty() && !last && x < drawn + kApart)) continue;
    path += text_of("%c%.1f,%.1f ", path.empty() ? 'M' : 'L', x, plot.y(point.value));
    drawn = x;
  }
  return "<path class=\"curve\" stroke=\"" + std::string(colour) + "\" d=\"" + path + "\"/>\n";
}

}  // namespace

std::string curves_svg(const std::string& title, const std::vector<Curve>& curves) {
  Plot plot;
  for (const Curve& curve : curves) {
    for (const MetricPoint& point : curve.points) {
      if (!std::isfinite(point.value)) continue;
      plot.steps.include(static_cast<double>(point.step));
      plot.values.include(point.value);
    }
  }
  std::string out = text_of("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\">\n", kWidth, kHeight);
  out += kStyle + text_of("<rect width=\"%.0f\" height=\"%.0f\" fill=\"white\"/>\n", kWidth, kHeight);
  out += text_of("<text class=\"title\" x=\"%.0f\" y=\"28\">", kLeft) + escaped(title) + "</text>\n";
  if (!plot.values.empty) out += grid(plot);
  double y = kTop + kLine;
  for (std::size_t i = 0; i < curves.size(); ++i, y += kLine) {
    const char* const colour = kColours[i % kColours.size()];
    out += line(plot, curves[i], colour);
    out += text_of("<text x=\"%.0f\" y=\"%.1f\" style=\"fill: %s\">", kLeft + 10, y, colour) + escaped(curves[i].name) +
           "</text>\n";
  }
  return out + "</svg>\n";
}

void write_curves(const std::filesystem::path& file, const std::string& title, const std::vector<Curve>& curves) {
  write_file_durably(file, curves_svg(title, curves));
}

}  // namespace lp
