#pragma once
// The table of the engines that lp has. To add one, write it in a folder of its own, and give it a line in
// all_engines.cc; or add it to standard_engines() in a program, and pass that table to lp::main or in LaunchOptions.

#include "launchers/engine_interface/engines.h"

namespace lp::launch {

// The engines of lp, for any thread.
const Engines& engines();

// A table of one's own, to which further engines can be added.
Engines standard_engines();

}  // namespace lp::launch
