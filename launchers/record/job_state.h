#pragma once
// A run's job in its cluster, as the cluster tells of it. A value.

#include <string>

namespace lp::internal {

struct JobState {
  std::string name{};    // "RUNNING"; empty: the cluster knows no such job, any more
  std::string reason{};  // empty: the cluster gives none
  std::string host{};    // that has its coordinator
  bool heterogeneous = false;
  std::string lost{};  // the job has ended without the node on which its script ran: this one
  int code = 0;
  int signal = 0;

  bool waits() const;       // to begin, for the first time or again
  bool ended() const;       // or is forgotten
  std::string why() const;  // " (Resources)", or nothing
};

}  // namespace lp::internal
