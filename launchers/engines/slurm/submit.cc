#include "launchers/engines/slurm/submit.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "launchers/engines/slurm/batch_script.h"
#include "launchers/engines/slurm/job.h"
#include "launchers/os/relaunch_command.h"
#include "launchers/plan/earlier_run.h"
#include "launchers/record/run_directory.h"
#include "launchers/record/run_recorder.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/text.h"
#include "lp/config/yaml.h"

namespace lp::launch {
namespace {

constexpr std::array<std::string_view, 6> kNotForTheJob{
    "--config=", "--directory=", "--resume=", "--submit", "--render", "--slurm="};

// Cancels a job whose number could not be recorded.
void take_back(const std::string& number) {
  try {
    cancel(number, /*force=*/true);
    log_line("job " + number + " is cancelled");
  } catch (const Error& error) {
    log_line("job " + number + " could not be cancelled; cancel it with scancel: " + error.what());
  }
}

// Submits the job to Slurm. From then on the directory holds a run, which `lp` knows. Returns the job's number.
std::string hand_over(const Launch& launch, const std::string& script) {
  const std::filesystem::path& directory = launch.options.directory;
  {
    const Descriptor taken = make_run_directory(directory);  // the job locks it next
    RunRecorder(directory).begin({.run = launch.name,
                                  .program = launch.program->name(),
                                  .launch = launch.choice.text(),
                                  .seed = launch.options.seed,
                                  .resumed = launch.options.resume.string()},
                                 launch.plan, resolved_configuration(launch.options));
  }
  std::string number;
  try {
    write_file(directory / "job.sh", script);
    number = submit(directory / "job.sh");
    write_file(directory / kJobNumber, number + "\n");
    return number;
  } catch (const Error&) {
    if (!number.empty()) take_back(number);
    forget_run(directory);
    throw;
  }
}

}  // namespace

int submit_to_slurm(const Launch& launch) {
  const LaunchFlags& flags = launch.flags;
  const LaunchOptions& options = launch.options;
  const std::filesystem::path directory = std::filesystem::absolute(options.directory);
  SlurmJob job{.name = launch.name,
               .command = relaunch_command(kNotForTheJob),
               .configuration = flags.config.empty() ? std::string() : read_config_file(flags.config),
               .options = flags.slurm,
               .requeue = flags.requeue,
               .time_margin = static_cast<int>(std::ceil(flags.time_margin)),
               .directory = directory};
  job.command.push_back("--directory=" + directory.string());
  if (!options.resume.empty()) job.command.push_back("--resume=" + std::filesystem::absolute(options.resume).string());
  const std::string script = batch_script(job, launch.plan, slurm_components(launch.plan, options.placements));
  if (flags.render) {
    std::printf("%s", script.c_str());
    return 0;
  }
  const std::string number = hand_over(launch, script);
  if (!flags.directory.empty()) register_run(launch.name, directory);
  log_line("job " + number + " runs " + launch.name + "; its output is in " + directory.string());
  if (!flags.submit) return follow_job(number, directory);
  std::printf("%s\n", number.c_str());
  return 0;
}

}  // namespace lp::launch
