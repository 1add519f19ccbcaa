#pragma once
// A launch, understood: the wishes of a person, the program, and the plan. It is made once and checked once, before
// anything starts. Then it goes down unchanged to the engine that submits it, and into the run. A value.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "launchers/plan/engine_choice.h"
#include "launchers/plan/launch_flags.h"
#include "launchers/plan/launch_options.h"
#include "lp/program/plan.h"
#include "lp/program/program.h"

namespace lp::launch {

struct Launch {
  // Throws Error, with all problems of the plan, for a launch that its engines cannot fulfil. `options` name the
  // engines. `flags` are those of the command line, from which the options were made, and `named` the paths of those
  // that it names; without a command line there are none.
  Launch(Program built, LaunchOptions given, LaunchFlags given_flags = {}, std::span<const std::string> named = {});

  // The engine of the run as a whole.
  const Engine& engine() const { return choice.engine_of_run(); }

  std::shared_ptr<const Program> program;  // shared with abandoned threads
  LaunchFlags flags;
  LaunchOptions options;
  EngineChoice choice;
  std::string name;  // the run's name
  Plan plan;
};

// Where each process would go if each host of unknown resources has what the program asks of it; the hosts are not
// asked. By process. It is empty for a process whose engine decides, and for one that the program begins without.
// Returns nothing where no engine names hosts. Throws Error as Placer does.
std::vector<std::string> planned_hosts(const Launch& launch);

// A host with all that the program asks for.
HostCapacity ample_host(const Plan& plan, HostSpec spec);

}  // namespace lp::launch
