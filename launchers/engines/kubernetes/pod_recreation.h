#pragma once
// Decides when Kubernetes recreates a pod of a run. Values and functions without state; the manifests carry them.

#include <optional>

namespace lp::launch {

struct PodRecreation {
  bool by_job = false;                // a Job creates another pod when this one is lost; else it is a Pod by itself
  int most_pods = 0;                  // the limit of the Job, for replaced pods and restarted containers together
  const char* container_policy = "";  // restartPolicy: when the container is started again in the same pod
  std::optional<int> seconds_lost{};  // how long the pod may stay on a cluster node that is lost; none: the default
};

// The coordinator is never recreated: its state ends with it. It may stay on a lost cluster node for the default time
// of Kubernetes, five minutes, because it continues when only its kubelet has failed.
PodRecreation recreation_of_coordinator();

// An agent is recreated whenever it fails. The program limits that by its own failure policies. Its pod leaves a lost
// cluster node after the grace period of the run, in seconds: then the agent has ended its nodes, and another pod may
// replace it.
PodRecreation recreation_of_agent(int grace);

}  // namespace lp::launch
