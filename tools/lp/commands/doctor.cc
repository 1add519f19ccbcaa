// lp doctor: reports what this machine offers to programs, which engines it reaches, and how to mend what is missing.

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "launchers/admin/admin_server.h"
#include "launchers/os/run_command.h"
#include "launchers/plan/hosts.h"
#include "launchers/record/run_directory.h"
#include "launchers/record/run_recorder.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/base/text.h"
#include "tools/lp/command.h"
#include "tools/lp/gpu_findings.h"
#include "tools/lp/rates.h"
#include "tools/lp/table.h"

namespace lp::tool {
namespace {

constexpr auto kEngineTimeout = std::chrono::seconds(5);  // for an engine to answer
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

using State = Finding::State;

Finding processors(const launch::HostCapacity& here) {
  return {"cores", State::good,
          std::to_string(here.cores.size()) + " for this process, of " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)),
          ""};
}

Finding memory(const launch::HostCapacity& here) {
  const bool little = here.memory < kGiB;
  return {"memory", little ? State::bad : State::good, memory_text(here.memory) + " for this process and its container",
          little ? "give the container more memory" : ""};
}

// Big arrays and neighbours use anonymous shared memory. Other software in a container uses this one.
Finding shared_memory() {
  struct statvfs status {};
  if (statvfs("/dev/shm", &status) != 0) {
    return {"/dev/shm", State::missing, "none", "mount a tmpfs there: lp does not need it, but other libraries do"};
  }
  const std::uint64_t bytes = std::uint64_t{status.f_blocks} * status.f_frsize;
  const bool small = bytes < kGiB;
  return {"/dev/shm", small ? State::missing : State::good, memory_text(bytes),
          small ? "docker run --shm-size=2g, or an emptyDir of medium Memory in Kubernetes" : ""};
}

Finding limit(const char* what, int resource, rlim_t wanted, const std::string& fix) {
  rlimit limits{};
  getrlimit(static_cast<__rlimit_resource>(resource), &limits);
  const auto text = [](rlim_t value) { return value == RLIM_INFINITY ? "unlimited" : std::to_string(value); };
  const bool low = limits.rlim_max < wanted;
  return {what, low ? State::bad : State::good, text(limits.rlim_cur) + ", at most " + text(limits.rlim_max),
          low ? fix : ""};
}

// The directory of the runs must be writable, and must allow a socket.
Finding state_directory() {
  std::filesystem::path directory;
  const std::string fix = "set XDG_STATE_HOME to a directory of your own on a local disk";
  try {
    directory = launch::default_run_directory("");
    directory = directory.parent_path();
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    std::string name = (directory / ".doctor-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return {"runs", State::bad, directory.string() + " cannot be written", fix};
    const std::string socket = [&] {
      try {
        launch::EventLoop loop;
        const launch::AdminServer server(name, loop, {.on_line = [](auto, auto) {}, .gone = [](auto) {}});
        return std::string();
      } catch (const Error& wrong) {
        return wrong.text();
      }
    }();
    std::filesystem::remove_all(name, error);
    const auto space = std::filesystem::space(directory, error);
    if (!socket.empty()) return {"runs", State::bad, socket, fix};
    return {"runs", error || space.available < kGiB ? State::bad : State::good,
            directory.string() + ", " + memory_text(space.available) + " free",
            space.available < kGiB ? "free some space: checkpoints and logs are written there" : ""};
  } catch (const Error& wrong) {
    return {"runs", State::bad, wrong.text(), fix};
  }
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Asks a program that an engine or a view needs for its version or its cluster.
Finding tool(const std::string& name, const std::vector<std::string>& command, const std::string& fix,
             const std::string& silent = "") {
  using launch::Output;
  const Output output = launch::run(command, kEngineTimeout);
  const std::string said = first_line(output.text + output.errors);  // `ssh -V` prints its version as an error
  if (output.code == Output::kNotStarted) return {name, State::missing, "not found", fix};
  if (output.code != 0) {
    return {name, State::missing, output.code == Output::kTimedOut ? "does not answer" : said, silent};
  }
  return {name, State::good, said, ""};
}

std::vector<Finding> examine() {
  const launch::HostCapacity here = launch::capacity_here();
  std::vector<Finding> all = {processors(here), memory(here), shared_memory()};
  for (Finding& one : gpu_findings()) all.push_back(std::move(one));
  all.push_back(
      limit("open files", RLIMIT_NOFILE, 4096, "raise `ulimit -Hn`: a service has a connection for each caller"));
  all.push_back(limit("processes", RLIMIT_NPROC, 4096, "raise `ulimit -Hu`: every node has threads"));
  all.push_back(state_directory());
  all.push_back(tool("gdb", {"gdb", "--version"}, "apt install gdb: for --debug=NODE"));
  all.push_back(
      tool("addr2line", {"addr2line", "--version"}, "apt install binutils: for files and lines in backtraces"));
  all.push_back(tool("eu-stack", {"eu-stack", "--version"}, "apt install elfutils: for lp stack"));
  all.push_back(tool("tmux", {"tmux", "-V"}, "apt install tmux: for --terminal=tmux"));
  all.push_back(tool("ssh", {"ssh", "-V"}, "apt install openssh-client: for hosts that are reached by ssh"));
  const std::string slurm = "run lp on a login node of a Slurm cluster, or apt install slurm-client";
  const std::string no_cluster = "check that /etc/slurm/slurm.conf is that of the cluster, and that slurmctld runs";
  all.push_back(tool("srun", {"srun", "--version"}, slurm, no_cluster));
  all.push_back(tool("sbatch", {"sbatch", "--version"}, slurm, no_cluster));
  if (all.back().state == State::good) {
    all.push_back(tool("slurmctld", {"scontrol", "ping"}, slurm, no_cluster));
  }
  all.push_back(tool("kubectl", {"kubectl", "version", "--client"}, "install kubectl: for a Kubernetes cluster"));
  if (all.back().state == State::good) {
    all.push_back(tool("kubernetes", {"kubectl", "get", "--raw=/readyz", "--request-timeout=3s"}, "",
                       "check that `kubectl config current-context` names the right cluster, and that you may use it"));
  }
  return all;
}

}  // namespace

int doctor_command(const Arguments& arguments, Screen& screen) {
  const std::vector<Finding> findings = examine();
  bool good = true;
  JsonWriter json;
  std::string text;
  Table table({{"WHAT"}, {"STATE"}, {"FOUND", Cut::end}});
  for (const Finding& finding : findings) {
    good = good && finding.state != State::bad;
    table.add({finding.what,
               finding.state == State::good  ? "ok"
               : finding.state == State::bad ? "BAD"
                                             : "-",
               Screen::clean(finding.found)},
              finding.state == State::good  ? ""
              : finding.state == State::bad ? "31"
                                            : "2");
    if (!finding.fix.empty()) text += finding.what + ": " + finding.fix + "\n";
  }
  if (arguments.has("json")) {
    json.begin_object();
    json.member("host", launch::host_name());
    json.member("good", good);
    json.member("findings", findings);
    json.end_object();
    screen.write(std::move(json).text() + "\n");
  } else {
    screen.write(table.text(screen.width(), screen.colours()) + (text.empty() ? "" : "\nSuggested fixes:\n") + text);
  }
  return code_of(good ? Exit::done : Exit::failed);
}

}  // namespace lp::tool
