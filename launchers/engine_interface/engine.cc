#include "launchers/engine_interface/engine.h"

#include "launchers/record/run_directory.h"

namespace lp::launch {

std::string Engine::new_mark(const std::string& run) const { return run + "." + random_suffix(); }

}  // namespace lp::launch
