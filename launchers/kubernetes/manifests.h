#pragma once
// The manifests of a run in Kubernetes: a Pod for its coordinator, and a Job for each process of the plan, in whose pod
// an agent starts it; the Secret with their keys, the ConfigMap with the configuration, and the Service by whose name
// the agents find the coordinator. All carry the run's label, by which they are removed. Functions without state.

#include <string>
#include <vector>

#include "launchers/remote/agent_dialer.h"
#include "lp/program/plan.h"

namespace lp::internal {

struct KubernetesRun {
  std::string name{};                        // of the run
  std::string image{};                       // its entry point is the program
  std::vector<std::string> flags{};          // of the program
  std::string configuration{};               // the YAML that it reads; empty: none
  std::vector<std::string> node_selector{};  // "disk=ssd"
  std::vector<std::string> tolerations{};    // "gpu=yes:NoSchedule", "gpu:NoSchedule", or "gpu" for every effect
  int grace = 10;                            // seconds that the program takes to stop, at most
};

// The keys of a run: those of the coordinator, and those of the agents in the order of the plan's processes.
struct RunKeys {
  ReceptionKeys coordinator{};
  std::vector<ReceptionKeys> agents{};
};
RunKeys make_run_keys(std::size_t agents);

// The manifests, as a person could have written them. Without keys the Secret says where its values come from. Throws
// Error for what cannot be.
std::string manifests(const KubernetesRun& run, const Plan& plan, const RunKeys* keys);

// "digits-20260131-235959-7f3a": what the objects of the run begin with, and the value of their label.
std::string object_name(const std::string& run);
inline constexpr const char* kRunLabel = "lp/run";
std::string coordinator_pod(const std::string& run);
std::string directory_in_pod(const std::string& run);  // where the coordinator keeps the run's files

}  // namespace lp::internal
