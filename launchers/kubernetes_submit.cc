#include "launchers/kubernetes_submit.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/kubectl.h"
#include "launchers/kubernetes.h"
#include "launchers/own_command.h"
#include "launchers/places.h"
#include "launchers/run_directory.h"
#include "lp/base/descriptor.h"
#include "lp/base/error.h"
#include "lp/config/yaml.h"

namespace lp::internal {
namespace {

constexpr std::array<std::string_view, 8> kForSubmitting{"--config=",        "--directory=",   "--image=", "--kubectl=",
                                                         "--node-selector=", "--tolerations=", "--submit", "--render"};

// The file holds the keys of the run, so it is for nobody else, and goes when they have been handed over.
class PrivateFile {
 public:
  explicit PrivateFile(const std::string& text)
      : path_((std::filesystem::temp_directory_path() / "lp-run-XXXXXX").string()), file_(mkstemp(path_.data())) {
    if (!file_ || !write_all(file_.number(), text)) {
      throw Error(ErrorKind::failed, "the manifests cannot be written below " +
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

}  // namespace

int submit_to_kubernetes(const LaunchFlags& flags, const Program& program, const LaunchOptions& options) {
  const std::vector<std::string> command = own_command(kForSubmitting);
  KubernetesRun run{.name = options.name,
                    .image = flags.image,
                    .flags = {command.begin() + 1, command.end()},
                    .configuration = flags.config.empty() ? std::string() : read_config_file(flags.config),
                    .node_selector = flags.node_selector,
                    .tolerations = flags.tolerations,
                    .grace = static_cast<int>(std::ceil(flags.grace))};
  const Plan plan = plan_here(program, options);
  if (flags.render) {
    std::printf("%s", manifests(run, plan, nullptr).c_str());
    return 0;
  }
  const Kubectl kubectl(flags.kubectl);
  const RunKeys keys = make_run_keys(plan.processes);
  try {
    kubectl.create(PrivateFile(manifests(run, plan, &keys)).path());
    std::fprintf(stderr, "lp: %s runs in Kubernetes\n", object_name(run.name).c_str());
    if (flags.submit) {
      std::printf("%s\n", object_name(run.name).c_str());
      return 0;
    }
    const int code = kubectl.follow(run.name, flags.json);
    kubectl.remove(run.name);
    return code;
  } catch (const Error&) {
    try {
      kubectl.remove(run.name);
    } catch (const Error& error) {
      std::fprintf(stderr, "lp: what is left of %s must be removed by hand: %s\n", run.name.c_str(), error.what());
    }
    throw;
  }
}

}  // namespace lp::internal
