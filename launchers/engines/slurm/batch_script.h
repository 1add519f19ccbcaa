#pragma once
// The batch script of a run, and the hosts of a Slurm allocation. A job runs the program again, as the batch step on
// the first node. That process is the coordinator, to which the agents of all nodes dial (agents.h). So nothing depends
// on the machine that submitted the job. Functions without state.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "launchers/engines/slurm/job_resources.h"
#include "launchers/plan/hosts.h"
#include "lp/program/plan.h"

namespace lp::launch {

struct SlurmJob {
  std::string name{};                  // the run's name
  std::vector<std::string> command{};  // the program's path, and its flags
  std::string configuration{};         // the YAML that it reads from standard input; empty: none
  std::vector<std::string> options{};  // options of sbatch for every component; they win over the component's needs
  bool requeue = false;                // the job begins again after its time limit, and when one of its nodes fails
  int time_margin = 60;                // seconds before the time limit, at which the program gets a signal
  std::filesystem::path directory{};   // the run's directory, which gets the job's output
};

// The script, as a person could have written it.
std::string batch_script(const SlurmJob& job, const Plan& plan, std::span<const SlurmComponent> components);

// Submits the file with sbatch. Returns the job's number. Throws Error with sbatch's message.
std::string submit(const std::filesystem::path& script);

// The nodes of this process's allocation in all its components, with the number of tasks on each as slots. A node of
// several components appears once for each: "n1" and "n1+1". Throws Error when Slurm does not answer.
std::vector<HostSpec> slurm_hosts(std::size_t components);

// The name of the host's node in Slurm.
std::string slurm_node(const HostSpec& host);

}  // namespace lp::launch
