#pragma once
// Many nodes at once: the time until they are ready, their memory, and whether all answer a call and stop.

#include <string>

#include "launchers/programs.h"
#include "launchers/run.h"
#include "lp/lp.h"

namespace lp::test {

struct ScaleConfig {
  int nodes = 300;
};

// A passive service.
class Echo {
 public:
  int echo(int value) const { return value; }
  using Remote = Methods<&Echo::echo>;
};

struct ScaleFigures {
  std::string launch{};
  int nodes = 0;
  double ready_seconds = 0;  // from the launch until every node serves
  double call_seconds = 0;   // until each has answered a call, which also makes the connections
  double stop_seconds = 0;
  double kilobytes = 0;  // for each node: proportional memory of its process, or the growth of this process
  int answers = 0;
  bool success = false;
  std::string cause{};
};

Program make_echoes(const ScaleConfig& config);

// Launches the program "echoes" with `nodes` nodes, measures, and stops it.
ScaleFigures measure_scale(LaunchType launch, int nodes);

}  // namespace lp::test
