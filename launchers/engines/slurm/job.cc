#include "launchers/engines/slurm/job.h"

#include <signal.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "launchers/engine_interface/follow.h"
#include "launchers/engine_interface/jobs.h"
#include "launchers/record/records.h"
#include "launchers/record/run_directory.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/json.h"
#include "lp/base/json_value.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

constexpr auto kSlurmTimeout = std::chrono::minutes(2);  // for a slurmctld that does not answer

// Parses "0:15".
void read_exit(const std::string& text, JobState& state) {
  std::sscanf(text.c_str(), "%d:%d", &state.code, &state.signal);
}

// The state of a job that slurmctld has forgotten, if this cluster has accounting.
JobState poll_accounting(const std::string& job) {
  JobState state;
  try {
    std::istringstream line(ask_slurm({"sacct", "-nXP", "-o", "State,ExitCode", "-j", job}).text);
    std::string exit;
    if (std::getline(line, state.name, '|') && std::getline(line, exit)) read_exit(exit, state);
    state.name = state.name.substr(0, state.name.find(' '));  // "CANCELLED by 1000"
  } catch (const Error&) {                                    // the cluster has no accounting
  }
  return state;
}

// A job of several nodes may continue without one that has failed. The coordinator was on the node of the job's script.
std::string lost_node(const std::string& script, const std::string& nodes) {
  if (script.empty() || nodes.empty() || nodes == "(null)") return {};
  std::istringstream names(ask_slurm({"scontrol", "show", "hostnames", nodes}).text);
  for (std::string name; names >> name;) {
    if (name == script) return {};
  }
  return script;
}

void log_job(const std::string& job, const std::string& text) { log_line("job " + job + " " + text); }

// Returns the exit code.
int report_end(const std::string& job, const JobState& state, const std::filesystem::path& directory) {
  if (!std::filesystem::exists(directory / kJobOutput)) {
    log_job(job, "has left its output in " + directory.string() + " on its first node, which cannot be read from here");
  }
  if (state.name == "COMPLETED" || (state.name == "FAILED" && state.code > 0)) return state.code;
  log_job(job, state.name.empty() ? "is no longer known to Slurm" : "ended as " + state.name + state.why());
  return state.signal > 0 ? 128 + state.signal : 1;
}

// The number of times that this process's job was begun before.
int own_start() {
  const char* count = std::getenv("SLURM_RESTART_COUNT");
  return count == nullptr ? 0 : std::atoi(count);
}

// Prints the bytes by which a file has grown.
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

class FollowedSlurmJob final : public FollowedJob {
 public:
  FollowedSlurmJob(std::string job, std::filesystem::path directory)
      : job_(std::move(job)),
        directory_(std::move(directory)),
        out_(directory_ / kJobOutput, stdout),
        err_(directory_ / kJobErrors, stderr) {}

  void ask() override { state_ = poll_job(job_); }
  std::optional<int> report(Poller&) override {
    err_.print();
    out_.print();
    if (state_.ended()) return report_end(job_, state_, directory_);
    if (state_.name != std::exchange(before_, state_.name)) log_job(job_, "is " + state_.name + state_.why());
    return std::nullopt;
  }
  bool take_output(Poller&) override { return false; }  // its output is in files
  void cancel() override {
    log_job(job_, "is cancelled; another Ctrl-C stops waiting for it");
    lp::launch::cancel(job_, /*force=*/true);
  }

 private:
  const std::string job_;
  const std::filesystem::path directory_;
  Tail out_;
  Tail err_;
  JobState state_;
  std::string before_;
};

}  // namespace

Output ask_slurm(const std::vector<std::string>& command) { return run_or_throw(command, kSlurmTimeout); }

std::vector<std::map<std::string, std::string>> show_fields(const std::string& kind, const std::string& names) {
  std::vector<std::map<std::string, std::string>> all;
  std::istringstream lines(ask_slurm({"scontrol", "--oneliner", "show", kind, names}).text);
  for (std::string line; std::getline(lines, line);) {
    std::map<std::string, std::string>& fields = all.emplace_back();
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (const std::size_t at = word.find('='); at != std::string::npos) {
        fields.try_emplace(word.substr(0, at), word.substr(at + 1));
      }
    }
  }
  return all;
}

JobState poll_job(const std::string& job) {
  std::vector<std::map<std::string, std::string>> components;  // one, or those of a heterogeneous job
  try {
    components = show_fields("job", job);
  } catch (const Error& error) {
    if (error.text().find("Invalid job id") == std::string::npos) throw;
  }
  if (components.empty()) return poll_accounting(job);
  auto& fields = components.front();
  JobState state{.name = fields["JobState"], .reason = fields["Reason"], .host = fields["BatchHost"]};
  state.heterogeneous = fields.contains("HetJobId");
  read_exit(fields["ExitCode"], state);
  if (state.ended()) state.lost = lost_node(fields["BatchHost"], fields["NodeList"]);
  return state;
}

void cancel(const std::string& job, bool force) {
  std::vector<std::string> command{"scancel"};
  if (!force) command.insert(command.end(), {"--batch", "--signal=TERM"});
  command.push_back(job);
  ask_slurm(command);
}

int follow_job(const std::string& job, const std::filesystem::path& directory) {
  FollowedSlurmJob followed(job, directory);
  return follow(followed);
}

std::string slurm_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : value;
}

std::string own_job() { return slurm_variable("SLURM_JOB_ID"); }

bool is_of_this_job(const std::filesystem::path& directory) {
  const auto record = read_record<RunRecord>(directory / "run.json");
  if (!record.has_value()) return false;
  if (record->launch != "slurm" || own_job().empty()) return false;
  return record->job.empty() || (record->job == own_job() && own_start() > 0);
}

void claim_for_this_start(const std::filesystem::path& directory) {
  write_file(directory / kJobNumber, own_job() + " " + std::to_string(own_start()) + "\n");
}

bool is_superseded(const std::filesystem::path& directory) {
  std::ifstream file(directory / kJobNumber);
  std::string job;
  int start = 0;
  return file >> job >> start && job == own_job() && start > own_start();
}

void requeue(const std::filesystem::path& directory) {
  signal(SIGTERM, SIG_IGN);  // Slurm ends the rest of the job, which is this process
  Event never;
  for (const Time end = after(kSlurmTimeout);;) {
    try {
      ask_slurm({"scontrol", "requeue", own_job()});
      break;
    } catch (const Error&) {  // slurmctld is busy, or starts again
      if (passed(end)) throw;
    }
    never.wait(after(kJobPeriod));
  }
  std::error_code ignored;
  std::filesystem::remove(directory / "result.json", ignored);  // the run has not ended
}

}  // namespace lp::launch
