#pragma once
// The engine `threads`: nodes are threads of the launching process, and call one another directly.

#include <memory>

#include "launchers/engine_interface/engine.h"

namespace lp::launch {

std::unique_ptr<Engine> threads_engine();

}  // namespace lp::launch
