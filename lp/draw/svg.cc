// Draws a plan as SVG 1.1.

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/json.h"
#include "lp/base/names.h"
#include "lp/base/text.h"
#include "lp/draw/draw.h"
#include "lp/draw/layout.h"
#include "lp/draw/svg_text.h"

namespace lp {
namespace {

using internal::Box;
using internal::Point;
using internal::svg_attribute;
using internal::svg_cut;
using internal::svg_escaped;
using internal::svg_number;
using internal::svg_width;

constexpr double kMargin = 24;
constexpr double kPadding = 14;  // inside a box
constexpr double kNameSize = 15;
constexpr double kTextSize = 11;
constexpr double kLine = 16;
constexpr double kStack = 4;  // offset of the sheets in a stack of replicas

// The texts in a group's box.
struct Label {
  std::string name{};
  std::string count{};  // "× 4"
  std::vector<std::string> lines{};

  Point size() const {
    double width = 1.08 * svg_width(name, kNameSize) + svg_width(count, kNameSize) + (count.empty() ? 0 : 6);
    for (const std::string& line : lines) width = std::max(width, svg_width(line, kTextSize));
    return {width + 2 * kPadding, 2 * kPadding - 4 + kNameSize + kLine * static_cast<double>(lines.size())};
  }
};

Label label_of(const PlanGroup& group) {
  constexpr std::size_t kLongest = 44;
  Label label{
      .name = group.options.name, .count = group.size > 1 ? "× " + to_string(group.options.replicas) : "", .lines = {}};
  std::string type(last_part(group.type));
  type = svg_cut(type, kLongest);
  if (type != label.name) label.lines.push_back(std::move(type));
  std::vector<std::string> needs;
  if (group.options.cpus > 0) needs.push_back(to_json(group.options.cpus) + " cpu");
  if (group.options.gpus > 0) needs.push_back(to_json(group.options.gpus) + " gpu");
  if (group.options.memory > 0) needs.push_back(memory_text(group.options.memory));
  if (!needs.empty()) label.lines.push_back(join(needs, ", ") + (group.size > 1 ? " each" : ""));
  if (!group.options.device.empty()) label.lines.push_back("device " + group.options.device);
  if (group.options.ends_program) label.lines.push_back("ends the program");
  return label;
}

std::string rectangle(const Box& box, const char* kind) {
  return std::string("<rect class=\"") + kind + "\"" + svg_attribute("x", box.x) + svg_attribute("y", box.y) +
         svg_attribute("width", box.width) + svg_attribute("height", box.height) + " rx=\"7\"/>\n";
}

std::string text_at(double x, double y, const char* kind, const std::string& content) {
  return std::string("<text class=\"") + kind + "\"" + svg_attribute("x", x) + svg_attribute("y", y) + ">" + content +
         "</text>\n";
}

std::string box_of(const PlanGroup& group, const Label& label, const Box& box) {
  const char* kind = group.active ? "runs" : "serves";
  std::string text = "<g><title>" + svg_escaped(group.options.name + ": " + group.type) + "</title>\n";
  for (int paper = std::min(group.size - 1, 2); paper >= 0; --paper) {
    text += rectangle({box.x + paper * kStack, box.y - paper * kStack, box.width, box.height}, kind);
  }
  const double middle = box.x + box.width / 2;
  double y = box.y + kPadding + kNameSize - 4;
  text += text_at(
      middle, y, "name",
      svg_escaped(label.name) + (label.count.empty() ? "" : " <tspan class=\"count\">" + label.count + "</tspan>"));
  for (const std::string& line : label.lines) text += text_at(middle, y += kLine, "line", svg_escaped(line));
  return text + "</g>\n";
}

std::string point(Point at) { return svg_number(at.x) + "," + svg_number(at.y); }

// Returns a curve that leaves and arrives horizontally. The two pulls shift its middle points to the right.
std::string curve(Point from, Point to, double pull_from, double pull_to) {
  return " C" + point({from.x + pull_from, from.y}) + " " + point({to.x + pull_to, to.y}) + " " + point(to);
}

constexpr double kLoopPull = 38;  // pull of an arrow inside a frame

std::string arrow(const std::vector<Point>& route, bool inside) {
  constexpr double kPull = 0.45;
  std::string text = "<path class=\"call\" d=\"M" + point(route[0]);
  if (inside) {  // leaves the right side and returns to it
    text += curve(route[0], route[1], kLoopPull, kLoopPull);
  } else {
    for (std::size_t i = 1; i < route.size(); ++i) {
      const double pull = kPull * (route[i].x - route[i - 1].x);
      text += i % 2 == 1 ? " L" + point(route[i]) : curve(route[i - 1], route[i], pull, -pull);
    }
  }
  return text + "\" marker-end=\"url(#arrow)\"/>\n";
}

// Returns the place of a label: the middle of the free part of the route. That part lies between two layers, or, for an
// arrow inside a frame or from a box to itself, to the right of the boxes that it joins.
Point label_place(const std::vector<Point>& route, bool inside, const std::string& text) {
  if (inside) {
    // A cubic curve with both middle points at kLoopPull extends this far.
    constexpr double kFarthest = 0.75 * kLoopPull;
    return {std::max(route[0].x, route[1].x) + kFarthest + 3 + svg_width(text, kTextSize) / 2,
            (route[0].y + route[1].y) / 2 + 4};
  }
  const std::size_t last = route.size() > 2 ? 2 : 1;
  return {(route[last - 1].x + route[last].x) / 2, (route[last - 1].y + route[last].y) / 2 - 4};
}

constexpr const char* kStyle =
    "<style>\n"
    "text { font-family: Helvetica, Arial, sans-serif; fill: #1c2733; text-anchor: middle }\n"
    ".title { font-size: 17px; font-weight: bold; text-anchor: start }\n"
    ".note { font-size: 11px; fill: #5b6876; text-anchor: start }\n"
    ".name { font-size: 15px; font-weight: bold }\n"
    ".count { font-weight: normal }\n"
    ".line { font-size: 11px; fill: #43505c }\n"
    ".runs { fill: #dce9fb; stroke: #2f6fc4; stroke-width: 1.6 }\n"
    ".serves { fill: #ffffff; stroke: #6b7785; stroke-width: 1.2 }\n"
    ".frame { fill: #f6f3ea; stroke: #a08d5b; stroke-dasharray: 5 4 }\n"
    ".rate { font-size: 11px; fill: #1c2733; paint-order: stroke; stroke: #ffffff; stroke-width: 3 }\n"
    ".call { fill: none; stroke: #43505c; stroke-width: 1.3 }\n"
    "</style>\n"
    "<defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9.5\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" "
    "orient=\"auto\"><path d=\"M0,1 L10,5 L0,9 z\" fill=\"#43505c\"/></marker></defs>\n"
    "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";

// Adds the program's name above, and the meaning of the colours below. Returns the width of both.
double append_notes(std::string& text, const Plan& plan, bool framed, double bottom) {
  const std::string nodes = std::to_string(plan.nodes.size()) + (plan.nodes.size() == 1 ? " node" : " nodes");
  text += text_at(0, 4, "title", svg_escaped(plan.program));
  const double title = 1.1 * svg_width(plan.program, 17) + 10;
  text += text_at(title, 4, "note", nodes);
  double x = 0;
  const auto sample = [&](const char* kind, const std::string& meaning) {
    text += rectangle({x, bottom - 10, 18, 12}, kind);
    text += text_at(x + 24, bottom, "note", meaning);
    x += 24 + svg_width(meaning, kTextSize) + 18;
  };
  sample("runs", "runs");
  sample("serves", "serves only");
  if (framed) sample("frame", "shares a process");
  return std::max(x, title + svg_width(nodes, kTextSize));
}

}  // namespace

std::string to_svg(const Plan& plan, std::span<const EdgeLabel> labels) {
  constexpr double kTop = 34;     // room for the title
  constexpr double kBottom = 44;  // room for the legend
  const internal::GroupGraph graph = internal::graph_of(plan);
  std::vector<Label> inside;
  std::vector<Point> sizes;
  for (const PlanGroup& group : plan.groups) {
    inside.push_back(label_of(group));
    sizes.push_back(inside.back().size());
  }
  const internal::GraphLayout layout = internal::layout_of(graph, sizes);

  std::string arrows;
  std::string texts;  // drawn above all arrows
  double right = layout.width;
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    const auto [from, to] = graph.edges[i];
    const std::vector<Point>& route = layout.routes[i];
    const bool shares = graph.frame[from] == graph.frame[to];
    arrows += arrow(route, shares);
    for (const EdgeLabel& label : labels) {
      if (label.caller != from || label.callee != to) continue;
      const Point place = label_place(route, shares, label.text);
      texts += text_at(place.x, place.y, "rate", svg_escaped(label.text));
      right = std::max(right, place.x + svg_width(label.text, kTextSize) / 2);
    }
  }

  std::string notes;
  const double bottom = kTop + layout.height + kBottom - 8;
  const double wide = std::max(right, append_notes(notes, plan, !layout.frames.empty(), bottom));
  const double width = wide + 2 * kMargin + 2 * kStack;
  const double height = bottom + 2 * kMargin;

  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"" +
                     svg_attribute("width", width) + svg_attribute("height", height) + " viewBox=\"0 0 " +
                     svg_number(width) + " " + svg_number(height) + "\">\n<title>" + svg_escaped(plan.program) +
                     "</title>\n" + kStyle + "<g transform=\"translate(" + svg_number(kMargin) + "," +
                     svg_number(kMargin + 8) + ")\">\n" + notes + "<g transform=\"translate(0," + svg_number(kTop) +
                     ")\">\n";
  for (const Box& frame : layout.frames) text += rectangle(frame, "frame");
  for (const Box& frame : layout.frames) {
    text += text_at(frame.x + 10, frame.y + 15, "note", "one process");
  }
  for (std::size_t i = 0; i < plan.groups.size(); ++i) text += box_of(plan.groups[i], inside[i], layout.boxes[i]);
  return text + arrows + texts + "</g>\n</g>\n</svg>\n";
}

}  // namespace lp
