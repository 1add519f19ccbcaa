#include "lp/draw/draw.h"

#include <vector>

#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/draw/layout.h"

namespace lp {
namespace {

// Returns a string of Graphviz's language.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

std::string to_dot(const Plan& plan, std::span<const EdgeLabel> labels) {
  const internal::GroupGraph graph = internal::graph_of(plan);
  std::string text = "digraph " + quoted(plan.program) + " {\n  rankdir=LR;\n  node [shape=box, fontname=Helvetica];\n";
  const auto append_group = [&](std::size_t i, const char* indent) {
    const PlanGroup& group = plan.groups[i];
    const std::string& name = group.options.name;
    std::string label = quoted(name + (group.size > 1 ? " x " + to_string(group.options.replicas) : ""));
    label.insert(label.size() - 1, "\\n" + quoted(group.type).substr(1, quoted(group.type).size() - 2));
    text += indent + quoted(name) + " [label=" + label +
            (group.active ? ", style=filled, fillcolor=\"#dce9fb\"" : ", style=rounded") + "];\n";
  };
  for (std::size_t i = 0; i < plan.groups.size(); ++i) {
    if (graph.frame[i] != i) continue;
    std::vector<std::size_t> members;
    for (std::size_t j = i; j < plan.groups.size(); ++j) {
      if (graph.frame[j] == i) members.push_back(j);
    }
    if (members.size() == 1) {
      append_group(i, "  ");
      continue;
    }
    text +=
        "  subgraph " + quoted("cluster_" + std::to_string(i)) + " {\n    label=\"one process\";\n    style=dashed;\n";
    for (const std::size_t member : members) append_group(member, "    ");
    text += "  }\n";
  }
  for (const auto& [from, to] : graph.edges) {
    text += "  " + quoted(plan.groups[from].options.name) + " -> " + quoted(plan.groups[to].options.name);
    for (const EdgeLabel& label : labels) {
      if (label.caller == from && label.callee == to) text += " [label=" + quoted(label.text) + "]";
    }
    text += ";\n";
  }
  return text + "}\n";
}

void write_graph(const Plan& plan, const std::filesystem::path& file, std::span<const EdgeLabel> labels) {
  const std::string extension = file.extension();
  if (extension == ".svg") {
    write_file_durably(file, to_svg(plan, labels));
  } else if (extension == ".dot" || extension == ".gv") {
    write_file_durably(file, to_dot(plan, labels));
  } else {
    throw Error(ErrorKind::failed,
                "cannot draw the graph into " + file.string() + ": the name must end in .svg, or in .dot for Graphviz");
  }
}

}  // namespace lp
