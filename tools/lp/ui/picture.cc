#include "tools/lp/ui/picture.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "lp/base/enums.h"
#include "lp/base/names.h"
#include "lp/draw/layout.h"

namespace lp::tool {
namespace {

using internal::Box;
using internal::Point;

constexpr double kHead = 46;        // a box has it for the name and the class
constexpr double kPadding = 12;     // around the cells
constexpr double kCharacter = 8;    // the width of one, about
constexpr double kLongest = 260;    // a longer name is cut
constexpr double kLoneWidth = 120;  // the box of a single node has at least this
constexpr double kLoneHeight = 20;
constexpr double kBeside = 32;  // room for the texts of arrows beside each box: the layout knows boxes with it

struct Cells {
  double side = 0;
  std::size_t columns = 1;
};

Cells cells_of(const PlanGroup& group) {
  if (group.size <= 1) return {};
  const double side = group.size <= 16 ? 24 : group.size <= 128 ? 16 : 10;
  return {side, static_cast<std::size_t>(std::ceil(std::sqrt(1.8 * group.size)))};
}

double text_width(std::string_view text) { return std::min(kCharacter * static_cast<double>(text.size()), kLongest); }

Point size_of(const PlanGroup& group) {
  const Cells cells = cells_of(group);
  const double name = text_width(group.options.name + " × " + std::to_string(group.size));
  const double texts = std::max(name, 0.8 * text_width(last_part(group.type)));
  const double rows = std::ceil(static_cast<double>(group.size) / static_cast<double>(cells.columns));
  const double inside = cells.side == 0 ? kLoneHeight : cells.side * rows;
  return {std::max({texts, kLoneWidth, cells.side * static_cast<double>(cells.columns)}) + 2 * kPadding + 2 * kBeside,
          kHead + inside + kPadding};
}

void write_box(JsonWriter& json, const Box& box) {
  json.member("x", std::round(box.x));
  json.member("y", std::round(box.y));
  json.member("width", std::round(box.width));
  json.member("height", std::round(box.height));
}

// An arrow leaves and reaches the box itself, not the room beside it.
void move_to_box(Point& end, const Box& with_room) {
  const bool left = end.x < with_room.x + with_room.width / 2;
  end.x += left ? kBeside : -kBeside;
}

void write_route(JsonWriter& json, const std::vector<Point>& route) {
  json.begin_array();
  for (const Point& point : route) json.write(std::vector<double>{std::round(point.x), std::round(point.y)});
  json.end_array();
}

void write_group(JsonWriter& json, const PlanGroup& group, Box box) {
  box.x += kBeside;
  box.width -= 2 * kBeside;
  const Cells cells = cells_of(group);
  json.begin_object();
  json.member("name", group.options.name);
  json.member("type", group.type);
  json.member("active", group.active);
  json.member("first", group.first);
  json.member("size", group.size);
  json.member("on_failure", group.options.on_failure.action);
  json.member("cell", cells.side);
  json.member("columns", cells.columns);
  write_box(json, box);
  json.end_object();
}

}  // namespace

void write_picture(JsonWriter& json, const Plan& plan) {
  const internal::GroupGraph graph = internal::graph_of(plan);
  std::vector<Point> sizes;
  for (const PlanGroup& group : plan.groups) sizes.push_back(size_of(group));
  const internal::GraphLayout layout = internal::layout_of(graph, sizes);
  json.key("groups");
  json.begin_array();
  for (std::size_t i = 0; i < plan.groups.size(); ++i) write_group(json, plan.groups[i], layout.boxes[i]);
  json.end_array();
  json.key("frames");
  json.begin_array();
  for (const Box& frame : layout.frames) {
    json.begin_object();
    write_box(json, frame);
    json.end_object();
  }
  json.end_array();
  json.key("arrows");
  json.begin_array();
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    const auto [caller, callee] = graph.edges[i];
    std::vector<Point> route = layout.routes[i];
    move_to_box(route.front(), layout.boxes[caller]);
    move_to_box(route.back(), layout.boxes[callee]);
    json.begin_object();
    json.member("caller", caller);
    json.member("callee", callee);
    json.member("inside", graph.frame[caller] == graph.frame[callee]);
    json.key("route");
    write_route(json, route);
    json.end_object();
  }
  json.end_array();
  json.member("width", layout.width);
  json.member("height", layout.height);
}

}  // namespace lp::tool
