#pragma once
// Queries and controls a job of Slurm by its number. Functions, which wait for slurmctld's answer, and values.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "launchers/os/run_command.h"
#include "launchers/record/job_state.h"
#include "lp/base/scheduler.h"

namespace lp::launch {

// Files below the directory of a run: the output of its job. The file kJobNumber (records.h) holds the job's number,
// then the number of its start.
constexpr const char* kJobOutput = "job.out";
constexpr const char* kJobErrors = "job.err";

// Throws Error when Slurm does not answer.
JobState poll_job(const std::string& job);

// Ends a job. Its program gets SIGTERM and stops in order; with `force`, Slurm ends all processes of the job. A job
// that has ended stays as it is. Throws Error when Slurm refuses.
void cancel(const std::string& job, bool force);

// Prints the job's output until it has ended, and returns its exit code (follow.h). Another end, for example a time
// limit, is reported.
int follow_job(const std::string& job, const std::filesystem::path& directory);

// A variable that Slurm has set in the environment of this process; empty: it is not set.
std::string slurm_variable(const std::string& name);

// The number of the job, or of the interactive allocation, in which this process runs; empty: it runs in none.
std::string own_job();

// Returns true if a run's directory was left for this job, by its submission or by its start before the requeue.
bool is_of_this_job(const std::filesystem::path& directory);

// A job may begin again while its last start still runs on a host that Slurm has lost. The newer start claims the
// directory; the older one checks the claim and leaves.
void claim_for_this_start(const std::filesystem::path& directory);
bool is_superseded(const std::filesystem::path& directory);

// Puts the job of this process back into the queue, from which it begins again; Slurm ends this process. Throws Error
// when Slurm refuses, or does not answer for two minutes.
void requeue(const std::filesystem::path& directory);

// Runs a tool of Slurm: {"scancel", "17"}. Throws Error with the tool's message when it fails, or when slurmctld does
// not answer for two minutes.
Output ask_slurm(const std::vector<std::string>& command);

// The fields of each object that `scontrol show` prints for a kind ("job") and its names: "JobState=RUNNING
// Reason=None" and so on. Throws Error as ask_slurm does.
std::vector<std::map<std::string, std::string>> show_fields(const std::string& kind, const std::string& names);

}  // namespace lp::launch
