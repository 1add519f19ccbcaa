#pragma once
// Places the boxes and arrows of a graph: in layers from left to right, callers before their callees. Pure functions.
// Lengths are pixels.

#include <cstddef>
#include <utility>
#include <vector>

#include "lp/program/plan.h"

namespace lp::internal {

// A plan's groups as a graph.
struct GroupGraph {
  // Caller and callee, each pair once. Edges from groups that run to groups that only serve come first: a cycle is
  // broken at the later edges.
  std::vector<std::pair<std::size_t, std::size_t>> edges{};
  // For each group, the first group among those that it shares processes with, itself included.
  std::vector<std::size_t> frame{};
};
GroupGraph graph_of(const Plan& plan);

struct Point {
  double x = 0;
  double y = 0;
};
struct Box {
  double x = 0;  // left
  double y = 0;  // top
  double width = 0;
  double height = 0;
};

struct GraphLayout {
  std::vector<Box> boxes{};   // for each group
  std::vector<Box> frames{};  // around groups that share processes
  // For each edge, from the caller's side to the callee's: points 0 and 1 are joined by a straight line, 1 and 2 by a
  // curve that leaves and arrives horizontally, 2 and 3 by a line, ... An edge inside a frame has two points, on the
  // right sides of its boxes.
  std::vector<std::vector<Point>> routes{};
  double width = 0;
  double height = 0;
};

// `sizes` has the width and height of each group's box. The layers are found as K. Sugiyama, S. Tagawa and M. Toda do
// (Methods for visual understanding of hierarchical system structures, 1981): cycles are broken, layers are longest
// paths, long edges get a place in every layer, and barycentres order the layers.
GraphLayout layout_of(const GroupGraph& graph, const std::vector<Point>& sizes);

}  // namespace lp::internal
