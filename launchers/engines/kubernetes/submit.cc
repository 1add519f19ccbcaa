#include "launchers/engines/kubernetes/submit.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "launchers/engine_interface/follow.h"
#include "launchers/engines/kubernetes/follow_pods.h"
#include "launchers/engines/kubernetes/kubectl.h"
#include "launchers/engines/kubernetes/manifests.h"
#include "launchers/os/relaunch_command.h"
#include "launchers/plan/earlier_run.h"
#include "launchers/record/run_directory.h"
#include "launchers/record/run_recorder.h"
#include "lp/base/descriptor.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/text.h"
#include "lp/config/yaml.h"

namespace lp::launch {
namespace {

constexpr std::array<std::string_view, 8> kNotForThePod{"--config=",        "--directory=",   "--image=", "--kubectl=",
                                                        "--node-selector=", "--tolerations=", "--submit", "--render"};

// The file holds the keys of the run. So only this user may read it, and it is removed when kubectl has read it.
class PrivateFile {
 public:
  explicit PrivateFile(const std::string& text)
      : path_((std::filesystem::temp_directory_path() / "lp-run-XXXXXX").string()), file_(mkstemp(path_.data())) {
    if (!file_ || !write_all(file_.number(), text)) {
      throw Error(ErrorKind::failed, "the manifests cannot be written into a file in " +
                                         std::filesystem::temp_directory_path().string() + ": is its disk full?");
    }
  }
  ~PrivateFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  PrivateFile(const PrivateFile&) = delete;
  PrivateFile& operator=(const PrivateFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Descriptor file_;
};

// From then on the directory holds a run, which `lp` knows.
Descriptor keep_record(const Launch& launch) {
  const LaunchOptions& options = launch.options;
  Descriptor taken = make_run_directory(options.directory);
  RunRecorder(options.directory)
      .begin({.run = launch.name,
              .program = launch.program->name(),
              .launch = launch.choice.text(),
              .directory = directory_in_pod(launch.name),
              .kubectl = launch.flags.kubectl,
              .seed = options.seed,
              .resumed = options.resume.string()},
             launch.plan, resolved_configuration(options));
  return taken;
}

// A failed removal does not change the result of the run.
bool remove(const Kubectl& kubectl, const std::string& run) {
  try {
    kubectl.remove(run);
    return true;
  } catch (const Error& error) {
    log_line("the objects of " + run + " could not all be removed; remove them with `lp stop`: " + error.what());
    return false;
  }
}

}  // namespace

int submit_to_kubernetes(const Launch& launch) {
  const LaunchFlags& flags = launch.flags;
  const LaunchOptions& options = launch.options;
  const std::vector<std::string> command = relaunch_command(kNotForThePod);
  KubernetesRun run{.name = launch.name,
                    .image = flags.image,
                    .flags = {command.begin() + 1, command.end()},
                    .configuration = flags.config.empty() ? std::string() : read_config_file(flags.config),
                    .node_selector = flags.node_selector,
                    .tolerations = flags.tolerations,
                    .grace = static_cast<int>(std::ceil(flags.grace))};
  if (flags.render) {
    std::printf("%s", manifests(run, launch.plan, nullptr).c_str());
    return 0;
  }
  const Kubectl kubectl(flags.kubectl);
  const RunKeys keys = make_run_keys(launch.plan.processes);
  const std::string text = manifests(run, launch.plan, &keys);
  const Descriptor taken = keep_record(launch);
  try {
    kubectl.create(PrivateFile(text).path());
    if (!flags.directory.empty()) register_run(launch.name, options.directory);
    log_line(object_name(run.name) + " runs in Kubernetes");
    if (flags.submit) {
      std::printf("%s\n", object_name(run.name).c_str());
      return 0;
    }
    const auto [code, state] = follow_pods(kubectl, run.name, flags.json);
    const ResultRecord result = keep_result(options.directory, state, code == kInterrupted ? "Ctrl-C" : "");
    if (state.result.empty() && !result.cause.what.empty()) log_line(result.cause.what);
    remove(kubectl, run.name);
    return state.job.name.empty() ? result.exit_code : code;  // `lp stop` may have been first
  } catch (const Error&) {
    if (remove(kubectl, run.name)) forget_run(options.directory);
    throw;
  }
}

}  // namespace lp::launch
