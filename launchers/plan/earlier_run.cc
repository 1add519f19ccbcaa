#include "launchers/plan/earlier_run.h"

#include <string_view>
#include <system_error>

#include "launchers/record/records.h"
#include "launchers/record/run_locations.h"
#include "launchers/record/run_recorder.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/base/text.h"
#include "lp/checkpoint/cut.h"
#include "lp/config/yaml.h"

namespace lp::launch {

namespace {

constexpr std::string_view kLaunchSection =
    "launch:\n  program: ";  // at the end: it is missing from a part of the file

std::string kind_of(const std::filesystem::path& run, const RunRecord& record) {
  return run.string() + " is a run of the program " + quote(record.program) + ", by " + record.binary;
}

}  // namespace

std::string resolved_configuration(const LaunchOptions& options) {
  if (options.entry.empty()) return {};
  return options.configuration + std::string(kLaunchSection) + to_json(options.entry) +
         "\n  seed: " + std::to_string(options.seed) + "\n";
}

std::filesystem::path earlier_run(const std::string& given) {
  std::error_code ignored;
  if (std::filesystem::is_directory(given, ignored)) return given;
  if (given.find('/') != std::string::npos) throw Error(ErrorKind::failed, "there is no run directory " + given);
  return find_run(given).directory;
}

std::optional<EarlierValues> configuration_of(const std::filesystem::path& run) {
  std::error_code ignored;
  const std::filesystem::path file = run / kConfigurationFile;
  if (std::filesystem::exists(file, ignored)) {
    EarlierValues values{read_config_file(file), file};
    if (values.text.find(kLaunchSection) != std::string::npos) return values;
    throw Error(ErrorKind::failed, file.string() + " is damaged: it does not name its program; name another run");
  }
  if (!latest_cut(run)) return std::nullopt;
  throw Error(ErrorKind::failed, run.string() + " has no " + kConfigurationFile +
                                     ", so the configuration of its checkpoints is unknown; name another run");
}

void fail_without_cut(const std::filesystem::path& run, const std::vector<std::string>& problems) {
  std::string why;
  for (const std::string& problem : problems) why += "\n  " + problem;
  throw Error(ErrorKind::failed, "there is no complete checkpoint in " + run.string() +
                                     ": name another run with --resume, or begin a new one without it" + why);
}

std::string about_resumed(const std::filesystem::path& run, const std::filesystem::path& binary, std::string text) {
  const auto before = read_record<RunRecord>(run / "run.json");
  if (!before || before->program.empty()) return text;
  const std::filesystem::path other = before->binary;
  if (other.empty() || other.filename() == binary.filename()) return text;
  return text + "; " + kind_of(run, *before) + ": --resume takes a run of the program that resumes it";
}

void check_resumed(const std::string& program, const std::filesystem::path& run) {
  std::vector<std::string> problems;
  if (!latest_cut(run, &problems)) fail_without_cut(run, problems);
  const auto before = read_record<RunRecord>(run / "run.json");
  if (!before || before->program.empty() || before->program == program) return;
  throw Error(ErrorKind::failed, kind_of(run, *before) + ", but this is " + quote(program) + ": name a run of " +
                                     quote(program) + ", or resume that run with its own binary");
}

void check_taken_over(const Program& program, const Binding& configuration) {
  const std::filesystem::path& run = program.taken_over();
  const std::optional<Cut> cut = latest_cut(run);
  if (!cut) return;  // the nodes miss it
  if (cut->program != program.name()) {
    throw Error(ErrorKind::failed, run.string() + " is a run of the program " + cut->program + ", whose state " +
                                       program.name() + " cannot take over: name a run of the same program");
  }
  if (const auto earlier = configuration_of(run)) check_adapted(configuration, *earlier);
}

}  // namespace lp::launch
