#pragma once
// The manifests of a run in Kubernetes. They are a Pod for its coordinator, a Job for each process of the plan, whose
// pod runs an agent, the Secret with the keys, the ConfigMap with the configuration, and the Service by whose name the
// agents find the coordinator. All objects carry the run's label, by which they are removed. Functions without state.

#include <string>
#include <vector>

#include "launchers/remote/agent_dialer.h"
#include "lp/program/plan.h"

namespace lp::launch {

struct KubernetesRun {
  std::string name{};                        // the run's name
  std::string image{};                       // the program is its entry point
  std::vector<std::string> flags{};          // the program's flags
  std::string configuration{};               // the YAML that it reads; empty: none
  std::vector<std::string> node_selector{};  // "disk=ssd"
  std::vector<std::string> tolerations{};    // "gpu=yes:NoSchedule", "gpu:NoSchedule", or "gpu" for every effect
  int grace = 10;                            // the longest time in seconds that the program takes to stop
};

// The keys of a run: those of the coordinator, and those of the agents in the order of the plan's processes.
struct RunKeys {
  AcceptorKeys coordinator{};
  std::vector<AcceptorKeys> agents{};
};
RunKeys make_run_keys(std::size_t agents);

// The manifests, as a person could have written them. Without `keys` the Secret explains where its values come from.
// Throws Error for settings that Kubernetes cannot fulfil.
std::string manifests(const KubernetesRun& run, const Plan& plan, const RunKeys* keys);

// "digits-20260131-235959-7f3a": the beginning of the names of the run's objects, and the value of their label.
std::string object_name(const std::string& run);
inline constexpr const char* kRunLabel = "lp/run";
std::string coordinator_pod(const std::string& run);
std::string directory_in_pod(const std::string& run);  // the coordinator keeps the run's files there

}  // namespace lp::launch
