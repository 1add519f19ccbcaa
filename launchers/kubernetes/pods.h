#pragma once
// The pods of a run in Kubernetes, as those who are in them see it: one for the coordinator, and one for each process
// of the plan, in which an agent starts it. Their manifests (manifests.h) give them what agent_dialer.h names, by the
// environment, with keys from the run's Secret; and beside that
//
//   LP_ADDRESS      of this pod
//   LP_MACHINE      of the cluster, which has this pod
//
// Functions without state.

#include <filesystem>
#include <string>
#include <vector>

#include "launchers/remote/agent_acceptor.h"
#include "lp/program/plan.h"

namespace lp::internal {

// The text in small letters, digits and, for everything else, "-": what names in a cluster are made of.
std::string cluster_name(const std::string& text);

// For the processes of the plan, in their order: names that hosts may have, all different, as "worker-0".
std::vector<std::string> pod_names(const Plan& plan);

// Whether this process is in a pod of a run.
bool in_pod();

// What the coordinator's pod has been given. Throws Error, also when this is none.
Reception::Options reception_of_pod();

// Leaves what came of the run, as far as it fits, where Kubernetes keeps it when the pod of the coordinator has ended.
void leave_result(const std::filesystem::path& directory);

}  // namespace lp::internal
