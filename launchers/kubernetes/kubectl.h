#pragma once
// A run in Kubernetes, seen from outside through kubectl: it is created, followed and removed. Owned by one thread.

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launchers/record/job_state.h"
#include "launchers/record/records.h"

namespace lp::internal {

// What the cluster says of a run's coordinator, in the words of Slurm.
struct CoordinatorState {
  JobState job{};        // PENDING, RUNNING, COMPLETED or FAILED; empty: the cluster has no such pod, any more
  std::string result{};  // what it has left of result.json; empty: it was killed, or has not ended

  std::string end() const;  // how it ended, where it has left nothing
};

constexpr int kInterrupted = 128 + 2;  // what to exit with after Ctrl-C

// Leaves in the run's directory here what came of it, as the cluster forgets it, if that is not there yet, and returns
// it. `reason`: why somebody ended it; empty: nobody did.
ResultRecord keep_result(const std::filesystem::path& directory, const CoordinatorState& state,
                         const std::string& reason);

class Kubectl {
 public:
  // `words` is the command with its options: "kubectl --context=test".
  explicit Kubectl(std::string words) : command_(std::move(words)) {}

  // Makes what the manifests in the file say. Throws Error with what the cluster says.
  void create(const std::string& file) const;
  // Removes everything of the run, and waits until it is gone.
  void remove(const std::string& run) const;
  // Prints what the program prints, until it has ended; what is wrong with a pod is said. With `json` the last line
  // goes to standard output, and all others to standard error. Ctrl-C stops the program, and again: removes it at once.
  // Returns what to exit with, and what the coordinator has left. Throws Error when the program cannot begin.
  std::pair<int, CoordinatorState> follow(const std::string& run, bool json) const;
  // Throws Error when the cluster does not answer.
  CoordinatorState look_at(const std::string& run) const;

 private:
  struct Pod;
  static std::string trouble_of(const Pod& pod);
  static CoordinatorState state_of(const std::optional<Pod>& coordinator);
  std::string ask(const std::string& arguments) const;
  std::vector<Pod> pods_of(const std::string& run) const;
  std::optional<Pod> coordinator_of(const std::string& run) const;

  std::string command_;
};

}  // namespace lp::internal
