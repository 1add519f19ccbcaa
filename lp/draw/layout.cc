#include "lp/draw/layout.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace lp::internal {
namespace {

constexpr double kGapX = 90;     // between layers
constexpr double kGapY = 28;     // between the items of one layer
constexpr double kFrame = 14;    // from a frame to its boxes
constexpr double kLabel = 16;    // room for the frame's label, above its boxes
constexpr double kLoop = 34;     // how far an edge inside a frame extends to the right
constexpr double kWireGap = 10;  // height of an edge that passes through a layer

// An item of a layer: a frame with its boxes (most have one), or an edge that passes through.
struct Item {
  std::size_t layer = 0;
  double width = 0;
  double height = 0;
  double y = 0;                              // y of its middle
  double order = 0;                          // position in its layer, while the layout searches for it
  std::vector<std::size_t> boxes{};          // boxes of a frame
  std::vector<std::size_t> neighbours[2]{};  // items in the layer before and in the layer behind
};

class Sugiyama {
 public:
  Sugiyama(const GroupGraph& graph, const std::vector<Point>& sizes) : graph_(graph), sizes_(sizes) {}

  GraphLayout run() {
    make_frames();
    find_layers();
    route_through_layers();
    order_layers();
    place();
    GraphLayout out;
    place_boxes(out);
    draw_routes(out);
    return out;
  }

 private:
  void make_frames() {
    item_of_.assign(sizes_.size(), 0);
    std::map<std::size_t, std::size_t> items;
    for (std::size_t box = 0; box < sizes_.size(); ++box) {
      const auto [at, is_new] = items.try_emplace(graph_.frame[box], items_.size());
      if (is_new) items_.emplace_back();
      item_of_[box] = at->second;
      items_[at->second].boxes.push_back(box);
    }
    frames_ = items_.size();
    for (Item& item : items_) {
      for (const std::size_t box : item.boxes) {
        item.width = std::max(item.width, sizes_[box].x);
        item.height += sizes_[box].y;
      }
      if (item.boxes.size() > 1) {
        item.height += kGapY * static_cast<double>(item.boxes.size() - 1) + 2 * kFrame + kLabel;
        item.width += 2 * kFrame + kLoop;
      }
    }
  }

  using Callees = std::vector<std::set<std::size_t>>;

  static bool reaches(const Callees& callees, std::size_t from, std::size_t to) {
    std::vector<bool> seen(callees.size(), false);
    std::vector<std::size_t> open{from};
    while (!open.empty()) {
      const std::size_t item = open.back();
      open.pop_back();
      if (item == to) return true;
      if (seen[item]) continue;
      seen[item] = true;
      open.insert(open.end(), callees[item].begin(), callees[item].end());
    }
    return false;
  }

  // Returns the callees of each frame. An edge that would close a cycle is reversed.
  Callees acyclic() const {
    Callees callees(frames_);
    for (const auto& [from, to] : graph_.edges) {
      const std::size_t caller = item_of_[from];
      const std::size_t callee = item_of_[to];
      if (caller == callee) continue;
      if (reaches(callees, callee, caller)) {
        callees[callee].insert(caller);
      } else {
        callees[caller].insert(callee);
      }
    }
    return callees;
  }

  void find_layers() {
    const auto callees = acyclic();
    std::vector<std::size_t> callers(frames_, 0);
    for (const auto& set : callees) {
      for (const std::size_t callee : set) ++callers[callee];
    }
    std::vector<std::size_t> order;
    for (std::size_t item = 0; item < frames_; ++item) {
      if (callers[item] == 0) order.push_back(item);
    }
    const std::size_t roots = order.size();
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const std::size_t callee : callees[order[i]]) {
        items_[callee].layer = std::max(items_[callee].layer, items_[order[i]].layer + 1);
        if (--callers[callee] == 0) order.push_back(callee);
      }
    }
    // An item without callers stands next to its first callee.
    for (std::size_t i = 0; i < roots; ++i) {
      std::size_t next = SIZE_MAX;
      for (const std::size_t callee : callees[order[i]]) next = std::min(next, items_[callee].layer);
      if (next != SIZE_MAX) items_[order[i]].layer = next - 1;
    }
  }

  void join(std::size_t before, std::size_t behind) {
    items_[before].neighbours[1].push_back(behind);
    items_[behind].neighbours[0].push_back(before);
  }

  // Gives each edge an item in every layer that it passes.
  void route_through_layers() {
    passes_.resize(graph_.edges.size());
    for (std::size_t edge = 0; edge < graph_.edges.size(); ++edge) {
      std::size_t left = item_of_[graph_.edges[edge].first];
      std::size_t right = item_of_[graph_.edges[edge].second];
      // This edge is inside a frame: the ends of other edges are never in one layer.
      if (items_[left].layer == items_[right].layer) continue;
      const bool forward = items_[left].layer < items_[right].layer;
      if (!forward) std::swap(left, right);
      for (std::size_t layer = items_[left].layer + 1; layer < items_[right].layer; ++layer) {
        items_.push_back({.layer = layer, .height = kWireGap});
        join(left, items_.size() - 1);
        left = items_.size() - 1;
        passes_[edge].push_back(left);
      }
      join(left, right);
      if (!forward) std::reverse(passes_[edge].begin(), passes_[edge].end());
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].layer >= layers_.size()) layers_.resize(items_[i].layer + 1);
      layers_[items_[i].layer].push_back(i);
    }
  }

  void order_layers() {
    constexpr int kSweeps = 12;
    const auto number = [&](const std::vector<std::size_t>& layer) {
      for (std::size_t i = 0; i < layer.size(); ++i) items_[layer[i]].order = static_cast<double>(i);
    };
    for (const auto& layer : layers_) number(layer);
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      const std::size_t side = static_cast<std::size_t>(sweep % 2);
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        auto& layer = layers_[side == 0 ? i : layers_.size() - 1 - i];
        for (const std::size_t item : layer) {
          const auto& neighbours = items_[item].neighbours[side];
          if (neighbours.empty()) continue;
          double sum = 0;
          for (const std::size_t neighbour : neighbours) sum += items_[neighbour].order;
          items_[item].order = sum / static_cast<double>(neighbours.size());
        }
        std::stable_sort(layer.begin(), layer.end(),
                         [&](std::size_t a, std::size_t b) { return items_[a].order < items_[b].order; });
        number(layer);
      }
    }
  }

  // Moves the items of a layer as near as their heights allow to the positions in their `order`.
  void settle(const std::vector<std::size_t>& layer) {
    std::vector<double> down(layer.size()), up(layer.size());
    const auto distance = [&](std::size_t i) {  // distance between the middles of i and i + 1
      return (items_[layer[i]].height + items_[layer[i + 1]].height) / 2 + kGapY;
    };
    for (std::size_t i = 1; i < layer.size(); ++i) {  // an item without edges follows the one above
      Item& item = items_[layer[i]];
      if (item.neighbours[0].empty() && item.neighbours[1].empty()) {
        item.order = items_[layer[i - 1]].order + distance(i - 1);
      }
    }
    for (std::size_t i = 0; i < layer.size(); ++i) {
      const double wish = items_[layer[i]].order;
      down[i] = i == 0 ? wish : std::max(wish, down[i - 1] + distance(i - 1));
    }
    for (std::size_t i = layer.size(); i-- > 0;) {
      const double wish = items_[layer[i]].order;
      up[i] = i + 1 == layer.size() ? wish : std::min(wish, up[i + 1] - distance(i));
    }
    for (std::size_t i = 0; i < layer.size(); ++i) items_[layer[i]].y = (down[i] + up[i]) / 2;
  }

  void place() {
    constexpr int kRounds = 24;
    for (const auto& layer : layers_) {
      for (const std::size_t item : layer) items_[item].order = 0;
      settle(layer);
    }
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        const auto& layer = layers_[round % 2 == 0 ? i : layers_.size() - 1 - i];
        for (const std::size_t item : layer) {
          double sum = 0;
          double count = 0;
          for (const auto& neighbours : items_[item].neighbours) {
            for (const std::size_t neighbour : neighbours) {
              sum += items_[neighbour].y;
              ++count;
            }
          }
          items_[item].order = count > 0 ? sum / count : items_[item].y;
        }
        settle(layer);
      }
    }
  }

  void place_boxes(GraphLayout& out) {
    double top = 0;
    for (const Item& item : items_) top = std::min(top, item.y - item.height / 2);
    double x = 0;
    for (const auto& layer : layers_) {
      double width = 0;
      for (const std::size_t item : layer) width = std::max(width, items_[item].width);
      spans_.push_back({x, x + width});
      x += width + kGapX;
    }
    out.width = spans_.empty() ? 0 : spans_.back().second;
    out.boxes.resize(sizes_.size());
    for (Item& item : items_) {
      item.y -= top;
      out.height = std::max(out.height, item.y + item.height / 2);
      const auto [left, right] = spans_[item.layer];
      Box frame{(left + right - item.width) / 2, item.y - item.height / 2, item.width, item.height};
      const bool framed = item.boxes.size() > 1;
      if (framed) out.frames.push_back(frame);
      double y = frame.y + (framed ? kFrame + kLabel : 0);
      for (const std::size_t box : item.boxes) {
        const Point size = sizes_[box];
        const double room = item.width - (framed ? kLoop : 0);
        out.boxes[box] = {frame.x + (room - size.x) / 2, y, size.x, size.y};
        y += size.y + kGapY;
      }
    }
  }

  // One end of an edge, at the side of a box.
  struct Port {
    std::size_t edge = 0;
    bool callee = false;
    double towards = 0;  // height of the other end
  };

  void draw_routes(GraphLayout& out) {
    std::map<std::pair<std::size_t, bool>, std::vector<Port>> sides;  // by box, and whether it is the right side
    const auto middle = [&](std::size_t box) { return out.boxes[box].y + out.boxes[box].height / 2; };
    for (std::size_t edge = 0; edge < graph_.edges.size(); ++edge) {
      const auto [from, to] = graph_.edges[edge];
      const std::size_t before = items_[item_of_[from]].layer;
      const std::size_t behind = items_[item_of_[to]].layer;
      const auto& passes = passes_[edge];
      const double first = passes.empty() ? middle(to) : items_[passes.front()].y;
      const double last = passes.empty() ? middle(from) : items_[passes.back()].y;
      sides[{from, before <= behind}].push_back({edge, false, first});
      sides[{to, before >= behind}].push_back({edge, true, last});
    }
    std::vector<Point> starts(graph_.edges.size()), ends(graph_.edges.size());
    for (auto& [side, ports] : sides) {
      std::stable_sort(ports.begin(), ports.end(), [](const Port& a, const Port& b) { return a.towards < b.towards; });
      const Box& box = out.boxes[side.first];
      for (std::size_t i = 0; i < ports.size(); ++i) {
        const double share = static_cast<double>(i + 1) / static_cast<double>(ports.size() + 1);
        (ports[i].callee ? ends : starts)[ports[i].edge] = {side.second ? box.x + box.width : box.x,
                                                            box.y + box.height * share};
      }
    }
    for (std::size_t edge = 0; edge < graph_.edges.size(); ++edge) {
      const auto [from, to] = graph_.edges[edge];
      const Point start = starts[edge];
      const Point end = ends[edge];
      if (item_of_[from] == item_of_[to]) {
        out.routes.push_back({start, end});
        out.width = std::max(out.width, std::max(start.x, end.x) + kLoop);
        continue;
      }
      const bool forward = start.x < end.x;
      const auto near = [&](const Item& item) {
        return forward ? spans_[item.layer].first : spans_[item.layer].second;
      };
      const auto far = [&](const Item& item) { return forward ? spans_[item.layer].second : spans_[item.layer].first; };
      std::vector<Point> route{start, {far(items_[item_of_[from]]), start.y}};
      for (const std::size_t pass : passes_[edge]) {
        route.push_back({near(items_[pass]), items_[pass].y});
        route.push_back({far(items_[pass]), items_[pass].y});
      }
      route.push_back({near(items_[item_of_[to]]), end.y});
      route.push_back(end);
      out.routes.push_back(std::move(route));
    }
  }

  const GroupGraph& graph_;
  const std::vector<Point>& sizes_;
  std::vector<Item> items_;  // frames come first
  std::size_t frames_ = 0;
  std::vector<std::size_t> item_of_;  // for each box
  std::vector<std::vector<std::size_t>> layers_;
  std::vector<std::vector<std::size_t>> passes_;  // for each edge: the items that it goes through, in its direction
  std::vector<std::pair<double, double>> spans_;  // left and right of each layer
};

}  // namespace

GroupGraph graph_of(const Plan& plan) {
  GroupGraph graph;
  std::set<std::pair<std::size_t, std::size_t>> edges;
  for (const PlanNode& node : plan.nodes) {
    for (const NodeId callee : node.calls) edges.emplace(node.group, plan.nodes[callee].group);
  }
  graph.edges.assign(edges.begin(), edges.end());
  std::stable_partition(graph.edges.begin(), graph.edges.end(), [&](const auto& edge) {
    return plan.groups[edge.first].active && !plan.groups[edge.second].active;
  });

  graph.frame.resize(plan.groups.size());
  std::iota(graph.frame.begin(), graph.frame.end(), std::size_t{0});
  std::vector<std::size_t> first(plan.processes, SIZE_MAX);  // group of each process
  for (const PlanNode& node : plan.nodes) {
    if (first[node.process] == SIZE_MAX) first[node.process] = node.group;
    const std::size_t a = graph.frame[first[node.process]];
    const std::size_t b = graph.frame[node.group];
    if (a != b) std::replace(graph.frame.begin(), graph.frame.end(), std::max(a, b), std::min(a, b));
  }
  return graph;
}

GraphLayout layout_of(const GroupGraph& graph, const std::vector<Point>& sizes) { return Sugiyama(graph, sizes).run(); }

}  // namespace lp::internal
