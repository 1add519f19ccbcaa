#pragma once
// Slurm: the batch script of a run, and the hosts of an allocation. A job runs the program again,
// as the batch step on the first node: there is the coordinator, to which the agents of all nodes dial (agents.h).
// So nothing depends on the machine that submitted. Functions without state.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "launchers/plan/hosts.h"
#include "launchers/slurm/components.h"
#include "lp/program/plan.h"

namespace lp::internal {

struct SlurmJob {
  std::string name{};                  // of the run
  std::vector<std::string> command{};  // the program, by its path, and its flags
  std::string configuration{};         // the YAML that it reads from standard input; empty: none
  std::vector<std::string> options{};  // of sbatch, for every component: they win over its needs
  bool requeue = false;                // it begins again after its time limit, and when one of its nodes fails
  int time_margin = 60;                // seconds before the time limit, at which it is told
  std::filesystem::path directory{};   // of the run; where the job's output goes
};

// The script, as a person could have written it.
std::string batch_script(const SlurmJob& job, const Plan& plan, std::span<const SlurmComponent> components);

// Gives the file to sbatch. Returns the job's number. Throws Error with what sbatch says.
std::string submit(const std::filesystem::path& script);

// The nodes of this process's allocation, of all its components, with its tasks on each as slots. A node that several
// components have is there for each: "n1" and "n1+1". Throws Error when Slurm does not say.
std::vector<HostSpec> slurm_hosts(std::size_t components);

// The node of Slurm that the host is.
std::string slurm_node(const HostSpec& host);

}  // namespace lp::internal
