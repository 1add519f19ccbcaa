#include "launchers/slurm.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "launchers/agent.h"
#include "launchers/slurm_job.h"
#include "lp/base/error.h"

namespace lp::internal {
namespace {

// A word that needs no quotes stays as it is.
std::string plain_word(const std::string& text) {
  constexpr std::string_view kOthers = "-_=./:,@+%";
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char one) {
    return std::isalnum(one) != 0 || kOthers.find(static_cast<char>(one)) != std::string_view::npos;
  });
  return plain ? text : shell_word(text);
}

// What the nodes of the plan's processes need at most: a task of the job has room for any of them.
std::vector<std::string> needs_of(const Plan& plan) {
  std::vector<double> cpus(plan.processes);
  std::vector<int> gpus(plan.processes);
  std::vector<std::uint64_t> memory(plan.processes);
  for (const PlanNode& node : plan.nodes) {
    const GroupOptions& group = plan.groups[node.group].options;
    cpus[node.process] += group.cpus;
    gpus[node.process] += group.gpus;
    memory[node.process] += group.memory;
  }
  const auto most = [](const auto& of) { return of.empty() ? 0 : *std::max_element(of.begin(), of.end()); };
  const int cores = std::max(1, static_cast<int>(std::ceil(most(cpus))));
  std::vector<std::string> needs{"--ntasks=" + std::to_string(std::max<std::size_t>(plan.processes, 1)),
                                 "--cpus-per-task=" + std::to_string(cores)};
  if (most(gpus) > 0) needs.push_back("--gpus-per-task=" + std::to_string(most(gpus)));
  if (most(memory) > 0) {
    constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
    const std::uint64_t each = (most(memory) / static_cast<std::uint64_t>(cores) + kMebibyte - 1) / kMebibyte;
    needs.push_back("--mem-per-cpu=" + std::to_string(each) + "M");
  }
  return needs;
}

// "4(x2),2": 4, 4, 2.
std::vector<int> read_counts(const std::string& text) {
  std::vector<int> counts;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    int count = 0;
    int times = 1;
    if (std::sscanf(part.c_str(), "%d(x%d)", &count, &times) < 1) return {};
    counts.insert(counts.end(), static_cast<std::size_t>(std::clamp(times, 0, 1 << 16)), count);
  }
  return counts;
}

// Slurm lets a job with --no-kill go on when its first node has failed, without a coordinator. An agent that was
// forsaken by its launcher looks whether that is so; then it ends the job, or has it begin again, as the job may.
constexpr const char* kWatch = R"sh(
while sleep 5; do
  state=$(squeue -h -j $SLURM_JOB_ID -o %T) || continue
  test "$state" || exit 0
  test "$(squeue -h -j $SLURM_JOB_ID -w $first -o %T)" && continue
  case $(scontrol show job $SLURM_JOB_ID) in
    *Requeue=1*) scontrol requeue $SLURM_JOB_ID ;;
    *) scancel $SLURM_JOB_ID ;;
  esac
done
)sh";

std::string with_watch(const std::string& line, const std::string& first) {
  return "(" + line + ")\ntest $? = " + std::to_string(kForsaken) + " || exit 0\nfirst=" + shell_word(first) + kWatch;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

}  // namespace

std::string batch_script(const SlurmJob& job, const Plan& plan) {
  std::ostringstream script;
  script << "#!/bin/bash\n# The run " << job.name << " of lp: " << plan.nodes.size() << " nodes in " << plan.processes
         << " processes.\n";
  const auto option = [&](const std::string& text) { script << "#SBATCH " << plain_word(text) << "\n"; };
  option("--job-name=" + plan.program);
  option("--output=" + (job.directory / kJobOutput).string());
  option("--error=" + (job.directory / kJobErrors).string());
  option("--open-mode=append");
  if (job.requeue) {
    option("--requeue");
  } else {
    option("--no-requeue");
    option("--no-kill");  // a node that fails is for the program's own policies
  }
  option("--signal=B:USR2@" + std::to_string(job.time_margin));
  for (const std::string& need : needs_of(plan)) option(need);
  for (const std::string& own : job.options) {
    if (own.starts_with("--output") || own.starts_with("--error") || own.starts_with("-o") || own.starts_with("-e")) {
      throw Error(ErrorKind::failed,
                  "--slurm=" + own + ": what a job prints goes to the run's directory: give --directory");
    }
    option(own);
  }
  script << "\nexec";
  for (const std::string& word : job.command) script << " \\\n  " << plain_word(word);
  if (job.configuration.empty()) {
    script << "\n";
  } else {
    constexpr std::string_view kEnd = "END_OF_CONFIGURATION";
    script << " \\\n  --config=- <<'" << kEnd << "'\n" << job.configuration;
    if (job.configuration.back() != '\n') script << "\n";
    script << kEnd << "\n";
  }
  return script.str();
}

std::string submit(const std::filesystem::path& script) {
  const std::string said = ask_slurm("sbatch", "--parsable " + shell_word(script));
  const std::size_t last = said.rfind('\n') + 1;                        // before it stand sbatch's warnings
  std::string number = said.substr(last, said.find(';', last) - last);  // behind it, the cluster
  if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) {
    throw Error(ErrorKind::failed, "sbatch has said no job's number: " + said);
  }
  std::fprintf(stderr, "%s", said.substr(0, last).c_str());
  return number;
}

std::vector<HostSpec> slurm_hosts() {
  std::istringstream names(ask_slurm("scontrol", "show hostnames " + shell_word(environment("SLURM_JOB_NODELIST"))));
  const std::vector<int> tasks = read_counts(environment("SLURM_TASKS_PER_NODE"));
  std::vector<HostSpec> hosts;
  for (std::string name; names >> name;) {
    const auto fields = show_fields("node " + shell_word(name));
    HostSpec host{.name = name};
    if (fields.contains("NodeAddr")) host.address = address_of(fields.at("NodeAddr"));
    if (hosts.size() < tasks.size()) host.slots = std::max(1, tasks[hosts.size()]);
    hosts.push_back(std::move(host));
  }
  if (hosts.empty()) throw Error(ErrorKind::failed, "Slurm names no node of this job");
  return hosts;
}

CommandThere by_srun() {
  const std::string first = environment("SLURMD_NODENAME");  // empty: we are outside of the allocation
  return [first](const HostSpec& host, const std::string& line) -> std::vector<std::string> {
    return {"srun",
            "--overlap",
            "--nodes=1",
            "--ntasks=1",
            "--nodelist=" + host.name,
            "--mem=0",
            "--cpu-bind=none",
            "--kill-on-bad-exit=0",
            "--unbuffered",
            "--quiet",
            "--input=all",
            "--mpi=none",
            "/bin/sh",
            "-c",
            first.empty() ? line : with_watch(line, first)};
  };
}

}  // namespace lp::internal
