#include "lp/draw/draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/draw/layout.h"
#include "tests/directory.h"

namespace lp {
namespace {

// A plan of these groups, with edges between groups and processes that groups share.
struct Drawing {
  Plan plan{};

  std::size_t group(const std::string& name, int size, bool active, const std::string& type = "app::Thing") {
    plan.groups.push_back({.options = {.name = name, .replicas = size},
                           .type = type,
                           .active = active,
                           .first = static_cast<NodeId>(plan.nodes.size()),
                           .size = size});
    for (int i = 0; i < size; ++i) {
      plan.nodes.push_back(
          {.name = name + "/" + std::to_string(i), .group = plan.groups.size() - 1, .process = plan.processes++});
    }
    return plan.groups.size() - 1;
  }
  void call(std::size_t from, std::size_t to) {
    for (int i = 0; i < plan.groups[from].size; ++i) {
      PlanNode& node = plan.nodes[plan.groups[from].first + static_cast<NodeId>(i)];
      for (int j = 0; j < plan.groups[to].size; ++j)
        node.calls.push_back(plan.groups[to].first + static_cast<NodeId>(j));
    }
  }
  void together(std::size_t a, std::size_t b) {
    plan.nodes[plan.groups[b].first].process = plan.nodes[plan.groups[a].first].process;
  }
};

// Everything that a picture can have: long edges, cycles, loops, frames, long names.
Plan busy() {
  Drawing d;
  d.plan.program = "actor <& learner>";
  const auto learner = d.group("learner", 1, true, "app::Learner");
  const auto actor = d.group("actor", 64, true, "app::Actor<app::Environment, app::Policy<float>>");
  const auto replay = d.group("replay", 4, false, "nodes::Replay<app::Transition>");
  const auto server = d.group("parameter_server", 2, false, "nodes::ParameterServer");
  const auto counter = d.group("counter", 1, false, "nodes::Counter");
  const auto evaluator = d.group("evaluator_with_a_rather_long_name", 1, true, "app::Evaluator");
  const auto peer = d.group("peer", 8, true, "app::Peer");
  const auto alone = d.group("alone", 1, true, "function");
  d.plan.groups[actor].options.cpus = 0.5;
  d.plan.groups[actor].options.memory = std::uint64_t{512} << 20;
  d.plan.groups[learner].options.gpus = 1;
  d.plan.groups[learner].options.ends_program = true;
  d.call(actor, replay);
  d.call(actor, server);
  d.call(learner, replay);
  d.call(learner, server);
  d.call(server, learner);
  d.call(actor, counter);
  d.call(evaluator, server);
  d.call(evaluator, counter);
  d.call(replay, counter);
  d.call(peer, peer);
  d.call(peer, replay);
  d.together(replay, counter);
  (void)alone;
  return d.plan;
}

// Whether the straight line cuts through the box.
bool crosses(const internal::Point& from, const internal::Point& to, const internal::Box& box) {
  return from.y == to.y && from.y > box.y && from.y < box.y + box.height &&
         std::min(from.x, to.x) < box.x + box.width && std::max(from.x, to.x) > box.x;
}

bool overlap(const internal::Box& a, const internal::Box& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

TEST(Graph, Dot) {
  Drawing d;
  d.plan.program = "p";
  const auto server = d.group("server", 2, false, "app::Server<\"x\">");
  const auto worker = d.group("worker", 4, true);
  const auto table = d.group("table", 1, false);
  d.call(worker, server);
  d.together(server, table);
  EXPECT_EQ(to_dot(d.plan), R"(digraph "p" {
  rankdir=LR;
  node [shape=box, fontname=Helvetica];
  subgraph "cluster_0" {
    label="one process";
    style=dashed;
    "server" [label="server x 2\napp::Server<\"x\">", style=rounded];
    "table" [label="table\napp::Thing", style=rounded];
  }
  "worker" [label="worker x 4\napp::Thing", style=filled, fillcolor="#dce9fb"];
  "worker" -> "server";
}
)");
}

TEST(Graph, CallersStandLeftOfWhatTheyCall) {
  Drawing d;
  const auto a = d.group("a", 1, true);
  const auto b = d.group("b", 1, false);
  const auto c = d.group("c", 1, false);
  d.call(a, b);
  d.call(b, c);
  d.call(a, c);
  const auto layout = internal::layout_of(internal::graph_of(d.plan), {{80, 40}, {120, 40}, {60, 40}});
  EXPECT_GT(layout.boxes[b].x, layout.boxes[a].x + layout.boxes[a].width);
  EXPECT_GT(layout.boxes[c].x, layout.boxes[b].x + layout.boxes[b].width);
  // the long edge passes b's layer beside b
  const auto edges = internal::graph_of(d.plan).edges;
  ASSERT_EQ(edges[1], (std::pair{a, c}));
  ASSERT_EQ(layout.routes[1].size(), 6u);
  const double y = layout.routes[1][2].y;
  EXPECT_TRUE(y < layout.boxes[b].y || y > layout.boxes[b].y + layout.boxes[b].height) << y;
}

TEST(Graph, ACycleIsBrokenWhereAServiceCallsBack) {
  Drawing d;
  const auto server = d.group("server", 1, false);
  const auto worker = d.group("worker", 1, true);
  d.call(server, worker);
  d.call(worker, server);
  const auto layout = internal::layout_of(internal::graph_of(d.plan), {{80, 40}, {80, 40}});
  EXPECT_GT(layout.boxes[server].x, layout.boxes[worker].x + layout.boxes[worker].width);
}

TEST(Graph, NothingOverlapsAndEveryArrowEndsAtItsBoxes) {
  const Plan plan = busy();
  const internal::GroupGraph graph = internal::graph_of(plan);
  const std::vector<internal::Point> sizes(plan.groups.size(), {150, 60});
  const internal::GraphLayout layout = internal::layout_of(graph, sizes);
  ASSERT_EQ(layout.boxes.size(), plan.groups.size());
  for (std::size_t i = 0; i < layout.boxes.size(); ++i) {
    EXPECT_GE(layout.boxes[i].x, 0);
    EXPECT_GE(layout.boxes[i].y, 0);
    EXPECT_LE(layout.boxes[i].x + layout.boxes[i].width, layout.width);
    EXPECT_LE(layout.boxes[i].y + layout.boxes[i].height, layout.height);
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(overlap(layout.boxes[i], layout.boxes[j])) << i << " " << j;
  }
  ASSERT_EQ(layout.frames.size(), 1u);
  for (std::size_t i = 0; i < layout.boxes.size(); ++i) {
    EXPECT_EQ(overlap(layout.frames[0], layout.boxes[i]), graph.frame[i] == 2) << i;
  }
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    const auto touches = [&](const internal::Point& at, const internal::Box& box) {
      return (at.x == box.x || at.x == box.x + box.width) && at.y > box.y && at.y < box.y + box.height;
    };
    EXPECT_TRUE(touches(layout.routes[i].front(), layout.boxes[graph.edges[i].first])) << i;
    EXPECT_TRUE(touches(layout.routes[i].back(), layout.boxes[graph.edges[i].second])) << i;
    for (std::size_t j = 1; j < layout.routes[i].size(); j += 2) {
      for (const internal::Box& box : layout.boxes) {
        EXPECT_FALSE(crosses(layout.routes[i][j - 1], layout.routes[i][j], box)) << i;
      }
    }
  }
}

// Tags are balanced, attributes quoted and entities known: enough of XML for what is written here.
void expect_xml(const std::string& text) {
  std::vector<std::string> open;
  std::size_t at = text.find("?>") + 2;
  while ((at = text.find_first_of("<&", at)) != std::string::npos) {
    if (text[at] == '&') {
      const std::string entity = text.substr(at, text.find(';', at) - at + 1);
      EXPECT_TRUE(entity == "&lt;" || entity == "&gt;" || entity == "&amp;" || entity == "&quot;") << entity;
      ++at;
      continue;
    }
    const std::size_t end = text.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = text.substr(at + 1, end - at - 1);
    EXPECT_EQ(tag.find('<'), std::string::npos) << tag;
    if (tag.front() == '/') {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(tag.substr(1), open.back());
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
    at = end;
  }
  EXPECT_TRUE(open.empty());
}

TEST(Graph, Svg) {
  const std::string svg = to_svg(busy());
  expect_xml(svg);
  for (const char* part : {">learner<", "× 64", ">ends the program<", "actor &lt;&amp; learner&gt;",
                           "0.5 cpu, 512M each", "evaluator_with_a_rather_long_name", "marker-end", "one process"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

// The number behind `name="` in the last tag with `mark`.
double attribute_of(const std::string& svg, const std::string& mark, const std::string& name) {
  const std::size_t at = svg.find(" " + name + "=\"", svg.rfind('<', svg.rfind(mark)));
  return std::stod(svg.substr(at + name.size() + 3));
}

TEST(Graph, TheLabelOfAnEdgeToItselfStandsBesideItsBoxAndInThePicture) {
  Drawing d;
  d.plan.program = "p";
  const auto peer = d.group("peer", 2, true);
  d.call(peer, peer);
  const std::vector<EdgeLabel> labels{{.caller = peer, .callee = peer, .text = "61.2M calls/s"}};
  const std::string svg = to_svg(d.plan, labels);
  expect_xml(svg);
  const double label = attribute_of(svg, "class=\"rate\"", "x");
  const double half = 40;  // of so long a text
  const double box = attribute_of(svg, "class=\"runs\"", "x") + attribute_of(svg, "class=\"runs\"", "width");
  EXPECT_GT(label - half, box - 2) << svg;
  EXPECT_LT(label + half, attribute_of(svg, "<svg", "width")) << svg;
}

TEST(Graph, OneNodeAndManyGroups) {
  Drawing one;
  one.plan.program = "p";
  one.group("only", 1, true);
  expect_xml(to_svg(one.plan));
  Drawing many;
  std::vector<std::size_t> groups;
  for (int i = 0; i < 60; ++i) groups.push_back(many.group("g" + std::to_string(i), 1, i % 2 == 0));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    many.call(i, (7 * i + 1) % 60);
    many.call(i, (11 * i + 5) % 60);
  }
  expect_xml(to_svg(many.plan));
}

TEST(Graph, TheNameOfTheFileDecides) {
  const test::Directory temporary;
  const std::filesystem::path& directory = temporary.path();
  const Plan plan = busy();
  const auto text = [&](const char* name) {
    write_graph(plan, directory / name);
    const Buffer bytes = read_file(directory / name, 1 << 20);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  EXPECT_EQ(text("graph.svg"), to_svg(plan));
  EXPECT_EQ(text("graph.dot"), to_dot(plan));
  try {
    write_graph(plan, directory / "graph.png");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(), "cannot draw the graph into " + (directory / "graph.png").string() +
                                ": the name must end in .svg, or in .dot for Graphviz");
  }
}

}  // namespace
}  // namespace lp
