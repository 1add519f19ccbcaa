#pragma once
// The engine `ssh`: agents of other hosts, which ssh starts; their nodes are processes there.

#include <memory>

#include "launchers/engine_interface/engine.h"

namespace lp::launch {

std::unique_ptr<Engine> ssh_engine();

}  // namespace lp::launch
