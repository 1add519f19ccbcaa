#pragma once
// Creates, follows and removes a run in Kubernetes from outside, through kubectl. One thread owns it.

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launchers/os/command.h"
#include "launchers/record/job_state.h"
#include "launchers/record/records.h"

namespace lp::internal {

// The state of a run's coordinator as the cluster reports it, in Slurm's terms.
struct CoordinatorState {
  // PENDING, RUNNING, COMPLETED or FAILED; empty: the cluster does not have such a pod, or no longer has it
  JobState job{};
  std::string result{};  // the part of result.json that it has left; empty: it was killed, or has not ended

  std::string end() const;  // how it ended, if it has left no result
};

constexpr int kInterrupted = 128 + 2;  // the exit code after Ctrl-C

// Stores the run's result in its directory on this host, because the cluster forgets it, unless a result is already
// there. Returns the result. `reason`: why somebody ended the run; empty: nobody did.
ResultRecord keep_result(const std::filesystem::path& directory, const CoordinatorState& state,
                         const std::string& reason);

class Kubectl {
 public:
  // `command` is the command with its options: "kubectl --context=test".
  explicit Kubectl(const std::string& command) : command_(split_command(command)) {}

  // Creates the objects of the manifests in the file. Throws Error with the cluster's message.
  void create(const std::string& file) const;
  // Removes all objects of the run, and waits until they are gone.
  void remove(const std::string& run) const;
  // Prints the program's output until it has ended, and reports problems of its pods. With `json` the last line goes to
  // standard output, and all others go to standard error. The first Ctrl-C stops the program; the second one removes it
  // at once. Returns the exit code, and the final state of the coordinator. Throws Error when the program cannot begin.
  std::pair<int, CoordinatorState> follow(const std::string& run, bool json) const;
  // Throws Error when the cluster does not answer.
  CoordinatorState look_at(const std::string& run) const;

 private:
  static constexpr auto kAnswerLimit = std::chrono::minutes(2);
  struct Pod;
  static std::string trouble_of(const Pod& pod);
  static CoordinatorState state_of(const std::optional<Pod>& coordinator);
  // Returns the command's output. Throws Error with the cluster's message, or if the command takes longer than `limit`.
  std::string ask(const std::vector<std::string>& arguments, Duration limit = kAnswerLimit) const;
  std::vector<Pod> pods_of(const std::string& run) const;
  std::optional<Pod> coordinator_of(const std::string& run) const;

  std::vector<std::string> command_;
};

}  // namespace lp::internal
