#pragma once
// Creates, watches and removes a run in Kubernetes from outside, through kubectl. One thread owns it.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launchers/os/run_command.h"
#include "launchers/record/job_state.h"
#include "launchers/record/records.h"
#include "lp/base/scheduler.h"

namespace lp::launch {

// The state of a run's coordinator as the cluster reports it, in Slurm's terms.
struct CoordinatorState {
  // PENDING, RUNNING, COMPLETED or FAILED; empty: the cluster does not have such a pod, or no longer has it
  JobState job{};
  std::string result{};  // the part of result.json that it has left; empty: it was killed, or has not ended

  std::string end() const;  // how it ended, if it has left no result
};

// The container of a pod of a run.
struct ContainerState {
  std::string host{};     // the name of its host in the run
  std::string phase{};    // "Running"
  std::string waits{};    // why it waits: "ImagePullBackOff"
  std::string text{};     // the same reason at length
  std::string ended{};    // how it ended: "Completed", "OOMKilled"
  std::string code{};     // its exit code
  std::string before{};   // how its predecessor ended
  std::string place{};    // why no node has it
  std::string grace{};    // the seconds that it may take to end when it is deleted
  std::string deleted{};  // the deadline of its deletion; empty: it was not deleted
  std::string result{};   // the result that it has left

  bool is_coordinator() const;
  Duration time_to_end() const;                                     // when it is deleted
  bool over() const { return !code.empty() || phase == "Failed"; }  // an evicted pod may have no code
  std::string trouble() const;                                      // its problem, for people; empty: there is none
};

// Stores the run's result in its directory on this host, because the cluster forgets it, unless a result is already
// there. Returns the result. `reason`: why somebody ended the run; empty: nobody did.
ResultRecord keep_result(const std::filesystem::path& directory, const CoordinatorState& state,
                         const std::string& reason);

// The state that the coordinator's container shows; nothing: it is not in the cluster.
CoordinatorState state_of(const std::optional<ContainerState>& coordinator);

class Kubectl {
 public:
  // `command` is the command with its options: "kubectl --context=test".
  explicit Kubectl(const std::string& command) : command_(split_command(command)) {}

  // Creates the objects of the manifests in the file. Throws Error with the cluster's message.
  void create(const std::string& file) const;
  // Removes all objects of the run, and waits until they are gone.
  void remove(const std::string& run) const;
  // Deletes the pod of the coordinator, which stops the program in order.
  void stop(const std::string& run) const;
  // The command that prints the program's output until its end.
  std::vector<std::string> logs_command(const std::string& run) const;
  // The containers of the run's pods. Throws Error when the cluster does not answer.
  std::vector<ContainerState> containers_of(const std::string& run) const;
  // Throws Error when the cluster does not answer.
  CoordinatorState poll(const std::string& run) const;

 private:
  static constexpr auto kAnswerLimit = std::chrono::minutes(2);
  // Returns the command's output. Throws Error with the cluster's message, or if the command takes longer than `limit`.
  std::string ask(const std::vector<std::string>& arguments, Duration limit = kAnswerLimit) const;

  std::vector<std::string> command_;
};

}  // namespace lp::launch
