#pragma once
// The pods of a run in Kubernetes, seen from inside. There is one for the coordinator, and one for each process of the
// plan, in which an agent starts it. Their manifests (manifests.h) set the variables of agent_dialer.h in the
// environment, with keys from the run's Secret, and these two:
//
//   LP_ADDRESS      the address of this pod
//   LP_MACHINE      the machine of the cluster that runs this pod
//
// Functions without state.

#include <filesystem>
#include <string>
#include <vector>

#include "launchers/remote/agent_acceptor.h"
#include "lp/program/plan.h"

namespace lp::launch {

// The text in small letters and digits, with "-" for every other character. Names in a cluster have this form.
std::string cluster_name(const std::string& text);

// The host names of the plan's processes, in their order. All are different, like "worker-0".
std::vector<std::string> pod_names(const Plan& plan);

// Returns true if this process is in a pod of a run.
bool in_pod();

// The settings that the coordinator's pod has received. Throws Error, also when this is no such pod.
AgentAcceptor::Options acceptor_of_pod();

// Leaves the run's result, as far as it fits, where Kubernetes keeps it when the coordinator's pod has ended.
void leave_result(const std::filesystem::path& directory);

}  // namespace lp::launch
