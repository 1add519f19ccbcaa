#include "launchers/engine/engine.h"

#include "launchers/record/run_directory.h"

namespace lp::internal {

std::string Engine::new_mark(const std::string& run) const { return run + "." + random_suffix(); }

}  // namespace lp::internal
