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

#include "launchers/interrupts.h"
#include "launchers/spawn.h"
#include "lp/base/error.h"
#include "lp/base/scheduler.h"

namespace lp::internal {
namespace {

constexpr auto kPeriod = std::chrono::milliseconds(500);  // between two looks at a job; slurmctld cannot call us
constexpr auto kPatience = std::chrono::minutes(2);       // with a slurmctld that does not answer
constexpr const char* kOutput = "job.out";
constexpr const char* kErrors = "job.err";

// What `tool` prints for these arguments. Throws Error with what it says when it fails.
std::string ask(const std::string& tool, const std::string& arguments, const std::string& input = {}) {
  const std::string where = input.empty() ? " </dev/null" : " <" + shell_word(input);
  FILE* pipe = popen((tool + " " + arguments + " 2>&1" + where).c_str(), "re");
  if (pipe == nullptr) throw Error(ErrorKind::failed, "cannot start " + tool);
  std::string said;
  std::array<char, 4096> bytes;
  while (const std::size_t got = std::fread(bytes.data(), 1, bytes.size(), pipe)) said.append(bytes.data(), got);
  const int status = pclose(pipe);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  if (status != 0) throw Error(ErrorKind::failed, tool + ": " + (said.empty() ? "it failed" : said));
  return said;
}

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

// "JobState=RUNNING Reason=None" and so on.
std::map<std::string, std::string> read_fields(const std::string& text) {
  std::map<std::string, std::string> fields;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (const std::size_t at = word.find('='); at != std::string::npos) {
      fields.try_emplace(word.substr(0, at), word.substr(at + 1));
    }
  }
  return fields;
}

struct JobState {
  std::string name{};  // "RUNNING"
  std::string reason{};
  int code = 0;
  int signal = 0;

  bool ended() const {
    constexpr std::array<std::string_view, 6> kLive{"PENDING",    "CONFIGURING", "RUNNING",
                                                    "COMPLETING", "SUSPENDED",   "REQUEUED"};
    return std::find(kLive.begin(), kLive.end(), name) == kLive.end();
  }
  std::string why() const { return reason.empty() || reason == "None" ? "" : " (" + reason + ")"; }
};

JobState look_at(const std::string& job) {
  auto fields = read_fields(ask("scontrol", "show job " + job));
  JobState state{.name = fields["JobState"], .reason = fields["Reason"]};
  std::sscanf(fields["ExitCode"].c_str(), "%d:%d", &state.code, &state.signal);
  return state;
}

void say(const std::string& job, const std::string& text) {
  std::fprintf(stderr, "lp: job %s %s\n", job.c_str(), text.c_str());
}

// What to exit with.
int report_end(const std::string& job, const JobState& state, const std::filesystem::path& directory) {
  if (!std::filesystem::exists(directory / kOutput)) {
    say(job, "has left what it printed in " + directory.string() + " of its first node, which is not seen from here");
  }
  if (state.name == "COMPLETED" || (state.name == "FAILED" && state.code > 0)) return state.code;
  say(job, "ended as " + state.name + state.why());
  return state.signal > 0 ? 128 + state.signal : 1;
}

// Prints what a file has grown by.
class Tail {
 public:
  Tail(std::filesystem::path path, FILE* to) : path_(std::move(path)), to_(to) {}
  void print() {
    std::ifstream file(path_, std::ios::binary);
    file.seekg(offset_);
    std::array<char, 65536> bytes;
    while (file.read(bytes.data(), bytes.size()), file.gcount() > 0) {
      std::fwrite(bytes.data(), 1, static_cast<std::size_t>(file.gcount()), to_);
      offset_ += file.gcount();
    }
    std::fflush(to_);
  }

 private:
  std::filesystem::path path_;
  FILE* to_;
  std::streamoff offset_ = 0;
};

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
  option("--output=" + (job.directory / kOutput).string());
  option("--error=" + (job.directory / kErrors).string());
  option("--open-mode=append");
  option("--no-requeue");  // a second start would find the run's directory taken
  option("--no-kill");     // a node that fails is for the program's own policies
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
  const std::string said = ask("sbatch", "--parsable", script);
  const std::size_t last = said.rfind('\n') + 1;                              // before it stand sbatch's warnings
  const std::string number = said.substr(last, said.find(';', last) - last);  // behind it, the cluster
  if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) {
    throw Error(ErrorKind::failed, "sbatch has said no job's number: " + said);
  }
  std::fprintf(stderr, "%s", said.substr(0, last).c_str());
  return number;
}

int follow(const std::string& job, const std::filesystem::path& directory) {
  Tail out(directory / kOutput, stdout);
  Tail err(directory / kErrors, stderr);
  Interrupts interrupts;
  Poller poller;
  poller.add(interrupts.fd(), 0);
  std::array<Poller::Ready, 1> ready;
  bool cancelled = false;
  std::string before;
  for (Time answered = now();;) {
    try {
      const JobState state = look_at(job);
      answered = now();
      err.print();
      out.print();
      if (state.ended()) return report_end(job, state, directory);
      if (state.name != std::exchange(before, state.name)) say(job, "is " + state.name + state.why());
    } catch (const Error&) {  // slurmctld is busy, or starts again
      if (now() - answered > kPatience) throw;
    }
    poller.wait(ready, after(kPeriod));
    while (interrupts.take() != 0) {
      if (std::exchange(cancelled, true)) return 130;
      say(job, "is cancelled; once more, and it is left to itself");
      ask("scancel", job);
    }
  }
}

bool in_slurm_job() { return std::getenv("SLURM_JOB_ID") != nullptr; }

std::vector<HostSpec> slurm_hosts() {
  std::istringstream names(ask("scontrol", "show hostnames " + shell_word(environment("SLURM_JOB_NODELIST"))));
  const std::vector<int> tasks = read_counts(environment("SLURM_TASKS_PER_NODE"));
  std::vector<HostSpec> hosts;
  for (std::string name; names >> name;) {
    const auto fields = read_fields(ask("scontrol", "show node " + shell_word(name)));
    HostSpec host{.name = name};
    if (fields.contains("NodeAddr")) host.address = address_of(fields.at("NodeAddr"));
    if (hosts.size() < tasks.size()) host.slots = std::max(1, tasks[hosts.size()]);
    hosts.push_back(std::move(host));
  }
  if (hosts.empty()) throw Error(ErrorKind::failed, "Slurm names no node of this job");
  return hosts;
}

CommandThere by_srun() {
  return [](const HostSpec& host, const std::string& line) -> std::vector<std::string> {
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
            line};
  };
}

}  // namespace lp::internal
