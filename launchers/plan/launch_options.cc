#include "launchers/plan/launch_options.h"

namespace lp::internal {

RunSettings settings_of(const LaunchOptions& options, const std::string& name) {
  return {
      .name = name,
      .seed = options.seed,
      .directory = options.directory.empty() ? std::filesystem::path() : std::filesystem::absolute(options.directory),
      .deadline = options.deadline,
      .patient = !options.debug.empty(),
      .serialize = options.serialize,
      .path = options.path,
      .shared_memory = options.shared_memory};
}

}  // namespace lp::internal
