#pragma once
// Draws a plan: a box for each group of nodes, an arrow from each caller to its callee. Pure functions.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "lp/program/plan.h"

namespace lp {

// The text at the arrow from one group to another, for instance how many calls go there.
struct EdgeLabel {
  std::size_t caller = 0;  // positions in Plan::groups
  std::size_t callee = 0;
  std::string text{};
};

// Returns the picture in Graphviz's language, for `dot -Tpdf`.
std::string to_dot(const Plan& plan, std::span<const EdgeLabel> labels = {});

// Returns a picture that any browser shows, drawn without Graphviz.
std::string to_svg(const Plan& plan, std::span<const EdgeLabel> labels = {});

// Writes one of the two, depending on the file's suffix: .dot (or .gv), .svg. Throws Error(failed) for another suffix,
// and if the file cannot be written.
void write_graph(const Plan& plan, const std::filesystem::path& file, std::span<const EdgeLabel> labels = {});

}  // namespace lp
