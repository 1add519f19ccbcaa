#pragma once
// How a run is found again by one that goes on from it: by its name, and with the configuration that it had. Functions;
// any thread.

#include <filesystem>
#include <optional>
#include <string>

#include "launchers/plan/launch_options.h"
#include "lp/config/parse.h"

namespace lp::internal {

// What stands in kConfigurationFile; empty for a launch that has said neither.
std::string resolved_configuration(const LaunchOptions& options);

// The directory that --resume means: this one, or that of the run of this name. Throws Error when there is none.
std::filesystem::path earlier_run(const std::string& given);

// The configuration of the run in this directory; nothing when there is no cut to go on from either. Throws Error when
// there may be cuts and nothing says with which configuration they were made.
std::optional<EarlierValues> configuration_of(const std::filesystem::path& run);

}  // namespace lp::internal
