#include "launchers/plan/launch_options.h"

namespace lp::launch {

RunSettings settings_of(const LaunchOptions& options, const std::string& name) {
  return {
      .name = name,
      .seed = options.seed,
      .directory = options.directory.empty() ? std::filesystem::path() : std::filesystem::absolute(options.directory),
      .deadline = options.deadline,
      .no_deadlines = !options.debug.empty(),
      .serialize = options.serialize,
      .path = options.path,
      .shared_memory = options.shared_memory};
}

}  // namespace lp::launch
