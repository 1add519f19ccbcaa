#pragma once
// The engine `processes`: agents and nodes are processes of this host.

#include <memory>

#include "launchers/engine_interface/engine.h"

namespace lp::launch {

std::unique_ptr<Engine> processes_engine();

}  // namespace lp::launch
