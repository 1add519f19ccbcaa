#include "launchers/engines/kubernetes/pod_recreation.h"

namespace lp::launch {
namespace {

constexpr int kMostPods = 100;  // for one agent

}  // namespace

PodRecreation recreation_of_coordinator() { return {.container_policy = "Never"}; }

PodRecreation recreation_of_agent(int grace) {
  return {.by_job = true, .most_pods = kMostPods, .container_policy = "OnFailure", .seconds_lost = grace};
}

}  // namespace lp::launch
