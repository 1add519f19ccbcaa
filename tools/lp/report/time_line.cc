#include "tools/lp/report/time_line.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "lp/base/enums.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"
#include "lp/draw/scale.h"
#include "lp/draw/svg_text.h"
#include "tools/lp/rates.h"

namespace lp::tool {
namespace {

using internal::Scale;
using internal::svg_cut;
using internal::svg_escaped;
using internal::svg_number;
using internal::svg_width;

// Pixels.
constexpr double kPictureWidth = 1080;
constexpr double kNamesWidth = 150;
constexpr double kTimeRight = kPictureWidth - 16;
constexpr double kRowHeight = 16;
constexpr double kRowStep = 20;
constexpr double kPathHeight = 22;
constexpr double kSmallText = 11;

constexpr std::size_t kMostNodeRows = 64;
constexpr std::size_t kPathColours = 8;
constexpr std::size_t kMostMarks = 2000;

struct Row {
  std::string name{};
  std::vector<std::size_t> nodes{};  // positions in UsageRecord::nodes
};

std::vector<Row> rows_of(const RunHistory& history) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < history.usage.nodes.size(); ++i) places[history.usage.nodes[i]] = i;
  std::vector<Row> rows;
  const bool by_group = history.plan.nodes.size() > kMostNodeRows;
  for (const PlanGroup& group : history.plan.groups) {
    if (by_group) {
      rows.push_back({group.options.name + (group.size > 1 ? " × " + std::to_string(group.size) : "")});
    }
    for (const PlanNode& node : nodes_of(history.plan, group)) {
      if (!by_group) rows.push_back({node.name});
      if (const auto at = places.find(node.name); at != places.end()) rows.back().nodes.push_back(at->second);
    }
  }
  if (rows.size() > kMostNodeRows) rows.resize(kMostNodeRows);
  return rows;
}

// Draws in the coordinates of one time line.
class TimeDrawing {
 public:
  TimeDrawing(const RunHistory& history, const std::vector<PathPart>& path)
      : history_(history), path_(path), span_(span_of(history)), rows_(rows_of(history)) {}

  std::string element() const {
    const double height = bottom() + 28;
    std::string out = "<svg class=\"time\" viewBox=\"0 0 " + svg_number(kPictureWidth) + " " + svg_number(height) +
                      "\" role=\"img\"><title>the nodes over the time of the run</title>\n";
    out += axis() + path_row();
    for (std::size_t i = 0; i < rows_.size(); ++i) out += row(rows_[i], top_of(i));
    return out + marks() + "</svg>\n";
  }

 private:
  static double top_of(std::size_t row) { return kPathHeight + 14 + static_cast<double>(row) * kRowStep; }
  double bottom() const { return top_of(rows_.size()); }
  double x(double time) const {
    const double length = std::max(span_.end - span_.begin, 1e-3);
    return kNamesWidth + (kTimeRight - kNamesWidth) * std::clamp((time - span_.begin) / length, 0.0, 1.0);
  }

  static std::string box(const char* kind, double left, double top, double right, double height,
                         const std::string& title = {}) {
    return "<rect class=\"" + std::string(kind) + "\" x=\"" + svg_number(left) + "\" y=\"" + svg_number(top) +
           "\" width=\"" + svg_number(std::max(right - left, 0.5)) + "\" height=\"" + svg_number(height) + "\">" +
           (title.empty() ? "" : "<title>" + svg_escaped(title) + "</title>") + "</rect>\n";
  }
  static std::string name_at(double top, const std::string& name) {
    return "<text class=\"name\" x=\"" + svg_number(kNamesWidth - 8) + "\" y=\"" + svg_number(top + 12) + "\">" +
           svg_escaped(svg_cut(name, 24)) + "</text>\n";
  }

  std::string axis() const {
    const double seconds = span_.end - span_.begin;
    const double unit = seconds > 7200 ? 3600 : seconds > 120 ? 60 : 1;
    const char* const name = seconds > 7200 ? " h" : seconds > 120 ? " min" : " s";
    std::string out;
    for (const Scale::Mark& mark : Scale({0, seconds / unit}, false).marks()) {
      const double at = x(span_.begin + mark.value * unit);
      out += "<path class=\"grid\" d=\"M" + svg_number(at) + ",0V" + svg_number(bottom()) +
             "\"/><text class=\"at\" x=\"" + svg_number(at) + "\" y=\"" + svg_number(bottom() + 16) + "\">" +
             mark.text + name + "</text>\n";
    }
    return out;
  }

  std::string path_row() const {
    std::string out = name_at(2, "critical path") + box("ground", kNamesWidth, 0, kTimeRight, kPathHeight);
    std::map<std::string, std::size_t> colours;
    for (const PathPart& part : path_) {
      if (part.node.empty()) continue;
      const std::size_t colour = colours.emplace(part.node, colours.size()).first->second % kPathColours;
      const std::string kind = "k" + std::to_string(colour);
      const std::string place = part.node + (part.work.starts_with("is ") ? " " : ", ") + part.work;
      const double left = x(part.time.begin), right = x(part.time.end);
      out +=
          box(kind.c_str(), left, 0, right, kPathHeight,
              place + ", from " + time_text(part.time.begin - span_.begin) + " to " +
                  time_text(part.time.end - span_.begin) + ": " + short_number(100 * part.share) + " % of the waits");
      const std::string label = svg_cut(part.node, 30);
      if (svg_width(label, kSmallText) + 8 > right - left) continue;
      out += "<text class=\"on\" x=\"" + svg_number((left + right) / 2) + "\" y=\"15\">" + svg_escaped(label) +
             "</text>\n";
    }
    return out;
  }

  // The shares of states in an interval, of all nodes of the row.
  static std::array<double, 3> shares_of(const Row& row, const UsageRecord::Interval& interval) {
    std::array<double, 3> shares{};
    double looks = 0;
    for (const std::size_t node : row.nodes) {
      const UsageRecord::NodeUse& use = interval.nodes[node];
      shares[0] += use.works;
      shares[1] += use.waits;
      shares[2] += use.down;
      looks += interval.looks;
    }
    for (double& share : shares) share /= std::max(looks, 1.0);
    return shares;
  }

  std::string row(const Row& row, double top) const {
    constexpr std::array kKinds = {"works", "waits", "down"};
    std::array<std::string, 3> paths;
    for (const UsageRecord::Interval& interval : history_.usage.intervals) {
      double base = top + kRowHeight;
      const std::array<double, 3> shares = shares_of(row, interval);
      for (std::size_t kind = 0; kind < shares.size(); ++kind) {
        const double height = kRowHeight * std::min(shares[kind], 1.0);
        if (height >= 0.05) {
          paths[kind] += "M" + svg_number(x(interval.begin)) + "," + svg_number(base) + "H" +
                         svg_number(x(interval.end)) + "V" + svg_number(base - height) + "H" +
                         svg_number(x(interval.begin)) + "z";
        }
        base -= height;
      }
    }
    std::string out = name_at(top, row.name) + box("ground", kNamesWidth, top, kTimeRight, kRowHeight);
    for (std::size_t kind = 0; kind < paths.size(); ++kind) {
      if (!paths[kind].empty()) {
        out += "<path class=\"" + std::string(kKinds[kind]) + "\" d=\"" + paths[kind] + "\"/>\n";
      }
    }
    return out;
  }

  // Failures of nodes, and the program's checkpoints.
  std::string marks() const {
    std::string out;
    std::size_t count = 0;
    for (const RunEvent& event : history_.events) {
      const bool cut = event.kind == RunEvent::Kind::cut;
      if (!cut && event.kind != RunEvent::Kind::failed && event.kind != RunEvent::Kind::left) continue;
      if (++count > kMostMarks) break;
      const std::string title = std::string(enum_name(event.kind)) + (event.node.empty() ? "" : " " + event.node) +
                                " at " + time_text(event.time - span_.begin) + ": " + svg_cut(event.text, 200);
      const double at = x(event.time);
      double top = bottom() - 4;
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        const bool here = event.node == rows_[i].name || event.node.starts_with(rows_[i].name + ",");
        if (!cut && here) top = top_of(i) - 2;
      }
      out += box(cut ? "cut" : "failure", at - 1, top, at + 1, cut ? 4 : kRowHeight + 4, title);
    }
    return out;
  }

  const RunHistory& history_;
  const std::vector<PathPart>& path_;
  const TimeSpan span_;
  const std::vector<Row> rows_;
};

}  // namespace

std::string time_text(double seconds) {
  if (seconds >= 7200) return short_number(seconds / 3600) + " h";
  if (seconds >= 120) return short_number(seconds / 60) + " min";
  const double step = seconds < 10 ? 0.01 : 0.1;
  return duration_text(from_seconds(std::round(std::max(seconds, 0.0) / step) * step));
}

std::string time_line(const RunHistory& history, const std::vector<PathPart>& path) {
  return TimeDrawing(history, path).element();
}

}  // namespace lp::tool
