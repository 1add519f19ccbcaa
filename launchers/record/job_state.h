#pragma once
// The state of a run's job as its cluster reports it. A value.

#include <string>

namespace lp::launch {

struct JobState {
  std::string name{};    // "RUNNING"; empty: the cluster does not know the job, or no longer knows it
  std::string reason{};  // empty: the cluster gives no reason
  std::string host{};    // the host of the coordinator
  bool heterogeneous = false;
  std::string lost{};  // the node on which the job's script ran, if the job has ended because it lost that node
  int code = 0;
  int signal = 0;

  bool waits() const;       // the job waits to begin, for the first time or again
  bool ended() const;       // the job has ended or is forgotten
  std::string why() const;  // " (Resources)", or nothing
};

}  // namespace lp::launch
