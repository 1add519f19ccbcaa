#include "launchers/plan/earlier_run.h"

#include <system_error>

#include "launchers/record/run_locations.h"
#include "launchers/record/run_recorder.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/config/yaml.h"

namespace lp::launch {

std::string resolved_configuration(const LaunchOptions& options) {
  if (options.entry.empty()) return {};
  return options.configuration + "launch:\n  program: " + to_json(options.entry) +
         "\n  seed: " + std::to_string(options.seed) + "\n";
}

std::filesystem::path earlier_run(const std::string& given) {
  std::error_code ignored;
  if (given.find('/') != std::string::npos || std::filesystem::is_directory(given, ignored)) return given;
  return find_run(given).directory;
}

std::optional<EarlierValues> configuration_of(const std::filesystem::path& run) {
  std::error_code ignored;
  const std::filesystem::path file = run / kConfigurationFile;
  if (std::filesystem::exists(file, ignored)) return EarlierValues{read_config_file(file), file};
  if (!std::filesystem::exists(run / "checkpoints", ignored)) return std::nullopt;
  throw Error(ErrorKind::failed,
              run.string() + " has no " + kConfigurationFile +
                  ", so the configuration of its checkpoints is unknown; give another run to --resume");
}

}  // namespace lp::launch
