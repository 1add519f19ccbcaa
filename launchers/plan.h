#pragma once
// What will run, and how it is joined: checked before anything starts, and shown to people and tools. A value.

#include <span>
#include <string>
#include <vector>

#include "launchers/run.h"
#include "lp/program/program.h"

namespace lp::internal {

struct PlanGroup {
  std::string name{};
  std::string type{};  // the class of its nodes
  int replicas = 0;
  double cpus = 0;  // for each node
  int gpus = 0;
  std::uint64_t memory = 0;
  std::string on_failure{};  // "stop", "restart 3", "ignore"
  bool ends_program = false;
  bool active = false;  // its nodes have run()
  bool saves = false;   // they are members of the program's cuts
};

struct PlanNode {
  std::string name{};
  std::string group{};
  std::size_t process = 0;  // position in Plan::units
  std::vector<std::string> calls{};
};

struct Plan {
  std::string program{};
  Launch launch = Launch::threads;
  std::string fingerprint{};
  std::vector<PlanGroup> groups{};
  std::vector<PlanNode> nodes{};
  std::vector<std::string> units{};  // processes, where the launcher makes some: the names of their nodes
};

// Throws Error as topology_of does.
Plan plan_of(const Program& program, std::span<const GroupOptions> groups, Launch launch);

std::string plan_text(const Plan& plan);
std::string plan_json(const Plan& plan);  // one line
std::string plan_dot(const Plan& plan);   // Graphviz: a box for each group
std::string plan_svg(const Plan& plan);   // the same picture, drawn here

}  // namespace lp::internal
