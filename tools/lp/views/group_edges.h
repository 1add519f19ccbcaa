#pragma once
// The calls and the records between the groups of a program: sums over the nodes of each pair. Values and pure
// functions.

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "launchers/record/status.h"
#include "lp/base/json.h"
#include "lp/draw/draw.h"
#include "lp/program/plan.h"
#include "tools/lp/rates.h"

namespace lp::tool {

struct GroupEdge {
  std::optional<CallRate> rate{};  // unknown for a run that is not live
  double records = 0;              // that were sent so far; only nodes that count them have some
  double bytes = 0;
};
// By the positions of both groups in the plan.
using GroupEdges = std::map<std::pair<std::size_t, std::size_t>, GroupEdge>;

// The edges of the plan, without numbers.
GroupEdges edges_of(const Plan& plan);
void add_rates(GroupEdges& edges, const Plan& plan, const Rates& rates);
void add_sent(GroupEdges& edges, const Plan& plan, const RunStatus& status);

// The texts at the arrows of a picture.
std::vector<EdgeLabel> labels_of(const GroupEdges& edges);
// Writes a member "edges" of the current object.
void write_edges(JsonWriter& json, const Plan& plan, const GroupEdges& edges);

}  // namespace lp::tool
