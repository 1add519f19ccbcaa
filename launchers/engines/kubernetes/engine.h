#pragma once
// The engine `kubernetes`: a program becomes pods.

#include <memory>

#include "launchers/engine_interface/engine.h"

namespace lp::launch {

std::unique_ptr<Engine> kubernetes_engine();

}  // namespace lp::launch
