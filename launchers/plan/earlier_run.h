#pragma once
// Finds an earlier run from which a new one continues: by its name, and with its configuration. Functions; any thread.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launchers/plan/launch_options.h"
#include "lp/config/parse_flags.h"
#include "lp/program/program.h"

namespace lp::launch {

// The text for kConfigurationFile; empty when the launch names neither a configuration nor a program.
std::string resolved_configuration(const LaunchOptions& options);

// Resolves --resume: to this directory, or to that of the run of this name. Throws Error when there is none.
std::filesystem::path earlier_run(const std::string& given);

// The configuration of the run in this directory; nothing when it has no cut to continue from either. Throws Error when
// there may be cuts but their configuration is unknown.
std::optional<EarlierValues> configuration_of(const std::filesystem::path& run);

// Throws Error::failed: there is no complete checkpoint in the directory of this run. `problems` are those of the
// others.
[[noreturn]] void fail_without_cut(const std::filesystem::path& run, const std::vector<std::string>& problems);

// The text of an error about the run to resume, with the program of that run if its binary has another name than this.
std::string about_resumed(const std::filesystem::path& run, const std::filesystem::path& binary, std::string text);

// Error::failed when the run in this directory has no complete checkpoint, or is of another program than the one that
// resumes it.
void check_resumed(const std::string& program, const std::filesystem::path& run);

// Error::failed when the run whose state the program takes over is of another program, or had another configuration.
void check_taken_over(const Program& program, const Binding& configuration);

}  // namespace lp::launch
