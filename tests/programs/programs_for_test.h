#pragma once
// The trainings that the tests of this folder launch, also as processes.

#include <string>

#include "launchers/programs.h"
#include "lp/program/program.h"

namespace lp::test {

struct Config {
  std::string scheme = "softsync";
  int splits = 1;            // softsync
  std::string directory{};   // feeding: the directory for the nodes' notes
  bool hold_server = false;  // feeding: a server is held when it starts; else one of the servers and workers
};

inline constexpr int kWorkers = 4;
inline constexpr int kSteps = 4000;  // over all workers

// A training whose result follows from its workers' statistics: see processes_test.cc.
Program make_training(const Config& config);

// Fed training, one of whose nodes is held when it starts: see feeding_test.cc.
Program make_feeding(const Config& config);

struct ServingConfig {
  int replicas = 2;
};

// Servers of numbers, whose versions change all the time: see serving_test.cc.
Program make_serving(const ServingConfig& config);

struct ReplayConfig {
  std::string spill{};  // the directory for items that do not fit into memory
};

// A replay server: see replay_restart_test.cc.
Program make_replay(const ReplayConfig& config);

const Programs& programs();

}  // namespace lp::test
