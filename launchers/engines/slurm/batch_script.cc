#include "launchers/engines/slurm/batch_script.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string_view>
#include <utility>

#include "launchers/engines/slurm/job.h"
#include "launchers/os/shell_quote.h"
#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

// with the component's number, it follows the name of a node that appears more than once
constexpr char kComponent = '+';

// Parses "4(x2),2" into 4, 4, 2.
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

// Returns text like "server, worker".
std::string groups_of(const SlurmComponent& component, const Plan& plan) {
  std::vector<std::string> names;
  for (const PlanNode& node : plan.nodes) {
    const std::string& name = plan.groups[node.group].options.name;
    const bool there = std::count(component.processes.begin(), component.processes.end(), node.process) > 0;
    if (there && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return join(names, ", ");
}

// An option of sbatch that a person gave.
const std::string& checked(const std::string& option) {
  for (const char* name : {"--output", "--error", "-o", "-e"}) {
    if (!option.starts_with(name)) continue;
    throw Error(ErrorKind::failed,
                "--slurm=" + option + ": the output of a job goes to the run directory: choose that with --directory");
  }
  return option;
}

Output ask_sbatch(const std::filesystem::path& script) {
  try {
    return ask_slurm({"sbatch", "--parsable", script.string()});
  } catch (const Error& error) {
    if (error.text().find("generic resource") == std::string::npos) throw;
    throw Error(ErrorKind::failed,
                error.text() + "\nthe program needs gpus; `sinfo -o '%N %G'` shows the nodes that have some");
  }
}

}  // namespace

std::string batch_script(const SlurmJob& job, const Plan& plan, std::span<const SlurmComponent> components) {
  std::ostringstream script;
  script << "#!/bin/bash\n# The run " << job.name << " of lp: " << plan.nodes.size() << " nodes in " << plan.processes
         << " processes.\n";
  const auto option = [&](const std::string& text) { script << "#SBATCH " << shell_quote_if_needed(text) << "\n"; };
  option("--job-name=" + plan.program);
  option("--output=" + (job.directory / kJobOutput).string());
  option("--error=" + (job.directory / kJobErrors).string());
  option("--open-mode=append");
  option("--signal=B:USR2@" + std::to_string(job.time_margin));
  for (std::size_t i = 0; i < components.size(); ++i) {
    if (i > 0) script << "\n#SBATCH hetjob\n";
    if (components.size() > 1) script << "# " << groups_of(components[i], plan) << "\n";
    option(job.requeue ? "--requeue" : "--no-requeue");
    if (!job.requeue) option("--no-kill");  // the program's own policies handle a node that fails
    for (const auto* options : {&components[i].needs, &job.options, &components[i].options}) {
      for (const std::string& one : *options) option(checked(one));
    }
  }
  script << "\nexec";
  for (const std::string& word : job.command) script << " \\\n  " << shell_quote_if_needed(word);
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
  const Output output = ask_sbatch(script);
  std::string number = output.text.substr(0, output.text.find_first_of(";\n"));  // the cluster's name may follow it
  if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) {
    throw Error(ErrorKind::failed, "sbatch printed no job number: " + output.text);
  }
  std::fputs(output.errors.c_str(), stderr);  // its warnings
  return number;
}

std::vector<HostSpec> slurm_hosts(std::size_t components) {
  const std::string size = slurm_variable("SLURM_HET_SIZE");
  if (size.empty()) components = 1;  // an interactive allocation has all components
  if (!size.empty() && size != std::to_string(components)) {
    throw Error(ErrorKind::failed, "this job has " + size + " components, but the program needs " +
                                       std::to_string(components) + ": submit it with the same configuration");
  }
  std::vector<HostSpec> hosts;
  for (std::size_t i = 0; i < components; ++i) {
    const std::string suffix = !size.empty() ? "_HET_GROUP_" + std::to_string(i) : std::string();
    const std::string list = slurm_variable("SLURM_JOB_NODELIST" + suffix);
    const std::vector<int> tasks = read_counts(slurm_variable("SLURM_TASKS_PER_NODE" + suffix));
    std::size_t position = 0;
    for (auto& fields : show_fields("node", list)) {  // in the order of the list
      const std::string& name = fields["NodeName"];
      const bool again = std::any_of(hosts.begin(), hosts.end(), [&](const auto& one) { return one.name == name; });
      HostSpec host{
          .name = again ? name + kComponent + std::to_string(i) : name, .component = i, .launch = LaunchType::slurm};
      host.address = address_of(fields["NodeAddr"]);
      if (position < tasks.size()) host.slots = std::max(1, tasks[position]);
      hosts.push_back(std::move(host));
      ++position;
    }
  }
  if (hosts.empty()) throw Error(ErrorKind::failed, "Slurm names no node of this job: is SLURM_JOB_NODELIST set?");
  return hosts;
}

std::string slurm_node(const HostSpec& host) { return host.name.substr(0, host.name.find(kComponent)); }

}  // namespace lp::launch
