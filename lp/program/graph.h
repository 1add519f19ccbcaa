#pragma once
// A picture of a plan: a box for each group of nodes, an arrow from each caller to what it calls. Pure functions.

#include <filesystem>
#include <string>

#include "lp/program/plan.h"

namespace lp {

// Graphviz's language: `dot -Tpdf`.
std::string to_dot(const Plan& plan);

// A picture that any browser shows, drawn without Graphviz.
std::string to_svg(const Plan& plan);

// Writes one of both, as the name ends: .dot (or .gv), .svg. Throws Error(failed) for another one, and if the file
// cannot be written.
void write_graph(const Plan& plan, const std::filesystem::path& file);

}  // namespace lp
