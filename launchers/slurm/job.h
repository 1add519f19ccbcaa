#pragma once
// A job of Slurm, by its number: what Slurm says of it, and what it is asked to do. Functions, which wait for
// slurmctld's answer, and values.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "launchers/record/job_state.h"
#include "lp/base/scheduler.h"

namespace lp::internal {

// Below the directory of a run: what its job prints; the job's number, and how often it was begun before.
constexpr const char* kJobOutput = "job.out";
constexpr const char* kJobErrors = "job.err";
constexpr const char* kJobNumber = "job";

constexpr auto kJobPeriod = std::chrono::milliseconds(500);  // between two looks at a job; slurmctld cannot call us

// Throws Error when Slurm does not answer.
JobState look_at(const std::string& job);

// Ends a job: its program hears SIGTERM and stops in order; with `force`, Slurm ends all that is in it. A job that has
// ended stays as it is. Throws Error when Slurm refuses.
void cancel(const std::string& job, bool force);

// Prints what the job prints, until it has ended, and returns its exit code; what became of it otherwise, a time limit
// for instance, is said. Ctrl-C cancels the job, and again: stops following it.
int follow(const std::string& job, const std::filesystem::path& directory);

// What Slurm has put into the environment of this process; empty: nothing.
std::string slurm_variable(const std::string& name);

// The number of the job that this process is in, or of its interactive allocation; empty: it is in none.
std::string own_job();

// Whether a run's directory has been left for this job, by who submitted it, or by its start before the requeue.
bool is_of_this_job(const std::filesystem::path& directory);

// A job may begin again while its last start lives on, on a host that Slurm has lost. The newer start says in the
// directory that it is there; the older one asks, and leaves.
void claim_for_this_start(const std::filesystem::path& directory);
bool is_superseded(const std::filesystem::path& directory);

// Puts the job of this process back into the queue, from where it begins again; Slurm ends this process. Throws Error
// when Slurm refuses, or does not answer for two minutes.
void requeue(const std::filesystem::path& directory);

// What a tool of Slurm prints for these arguments, which are text for a shell. Throws Error with what it says when it
// fails.
std::string ask_slurm(const std::string& tool, const std::string& arguments);

// What `scontrol show` says of each: "JobState=RUNNING Reason=None" and so on. Throws Error as ask_slurm does.
std::vector<std::map<std::string, std::string>> show_fields(const std::string& what);

}  // namespace lp::internal
