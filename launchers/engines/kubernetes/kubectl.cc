#include "launchers/engines/kubernetes/kubectl.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>
#include <utility>

#include "launchers/engine_interface/follow.h"
#include "launchers/engines/kubernetes/manifests.h"
#include "launchers/os/exit_status.h"
#include "launchers/os/signals.h"
#include "launchers/record/records.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/json.h"
#include "lp/base/json_value.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

constexpr auto kTimeToTell = std::chrono::seconds(10);  // for the kubelet to report that a pod has ended
constexpr const char* kKinds = "job,pod,service,secret,configmap,serviceaccount";
constexpr const char* kOutOfMemory = "OOMKilled";
constexpr int kFailedJob = 1;
std::vector<std::string> with_arguments(std::vector<std::string> command, const std::vector<std::string>& arguments) {
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

// Selects the objects of a run.
std::string selector(const std::string& run) { return std::string("--selector=") + kRunLabel + "=" + object_name(run); }

// Kubernetes keeps only the beginning of a text that is too long.
bool is_record(const std::string& text) {
  try {
    return JsonValue::parse(text).find("success") != nullptr;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

bool ContainerState::is_coordinator() const { return host == "coordinator"; }

Duration ContainerState::time_to_end() const { return std::chrono::seconds(std::atoi(grace.c_str())) + kTimeToTell; }

std::string Kubectl::ask(const std::vector<std::string>& arguments, Duration limit) const {
  return run_or_throw(with_arguments(command_, arguments), limit).text;
}

std::string CoordinatorState::end() const {
  if (job.name.empty())
    return "the pod of its coordinator is no longer in the cluster: it was deleted, or its node was lost";
  return "its coordinator ended with exit code " + std::to_string(job.code) + job.why();
}

ResultRecord keep_result(const std::filesystem::path& directory, const CoordinatorState& state,
                         const std::string& reason) {
  const std::filesystem::path path = directory / "result.json";
  if (auto there = read_record<ResultRecord>(path)) return *std::move(there);
  std::string text = state.result;
  if (text.empty()) {
    ResultRecord record{.reason = reason, .stopped_by = reason, .exit_code = kInterrupted};
    if (reason.empty()) {
      record.cause.what = state.end();
      record.exit_code = state.job.name.empty() ? kFailedJob : state.job.code;
    }
    record.ended = static_cast<double>(wall_clock()) / 1e9;
    text = to_json(record);
  }
  try {
    write_file(path, text + "\n");
  } catch (const Error& error) {
    log_line("the result cannot be saved in the run directory: " + error.text());
  }
  return from_json<ResultRecord>(JsonValue::parse(text));
}

void Kubectl::create(const std::string& file) const { ask({"create", "-f", file}); }

void Kubectl::remove(const std::string& run) const {
  const std::vector<std::string> all{"delete", kKinds, "--ignore-not-found", selector(run)};
  Duration longest = kTimeToTell;
  for (const ContainerState& pod : containers_of(run)) longest = std::max(longest, pod.time_to_end());
  try {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest).count();
    ask(with_arguments(all, {"--timeout=" + std::to_string(seconds) + "s"}), longest + kAnswerLimit);
  } catch (const Error&) {
    // An unreachable kubelet does not report that its pods have ended. It ends them when it is reachable again.
    ask(with_arguments(all, {"--force", "--grace-period=0"}));
  }
}

std::vector<ContainerState> Kubectl::containers_of(const std::string& run) const {
  constexpr const char* kFields =
      "{range .items[*]}{.spec.hostname}{\"\\t\"}{.status.phase}{\"\\t\"}"
      "{.status.containerStatuses[0].state.waiting.reason}{\"\\t\"}{.status.containerStatuses[0].state.waiting.message}"
      "{\"\\t\"}{.status.containerStatuses[0].state.terminated.reason}{\"\\t\"}"
      "{.status.containerStatuses[0].state.terminated.exitCode}{\"\\t\"}"
      "{.status.containerStatuses[0].lastState.terminated.reason}{\"\\t\"}"
      "{.status.conditions[?(@.reason==\"Unschedulable\")].message}{\"\\t\"}"
      "{.spec.terminationGracePeriodSeconds}{\"\\t\"}{.metadata.deletionTimestamp}{\"\\t\"}"
      "{.status.containerStatuses[0].state.terminated.message}{\"\\n\"}{end}";
  std::istringstream lines(ask({"get", "pods", selector(run), "-o", std::string("jsonpath=") + kFields}));
  std::vector<ContainerState> pods;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    ContainerState pod;
    for (std::string* field : {&pod.host, &pod.phase, &pod.waits, &pod.text, &pod.ended, &pod.code, &pod.before,
                               &pod.place, &pod.grace, &pod.deleted, &pod.result})
      std::getline(fields, *field, '\t');
    if (!pod.host.empty()) pods.push_back(std::move(pod));
  }
  return pods;
}

std::string ContainerState::trouble() const {
  if (ended == kOutOfMemory || before == kOutOfMemory)
    return "was killed because it used more memory than its limit (OOMKilled)";
  if (!place.empty()) return "waits for a node: " + place;
  if (waits.empty() || waits == "ContainerCreating" || waits == "PodInitializing") return {};
  return "waits: " + waits + (text.empty() ? "" : ": " + text);
}

CoordinatorState state_of(const std::optional<ContainerState>& coordinator) {
  if (!coordinator.has_value()) return {};
  CoordinatorState state;
  if (is_record(coordinator->result)) state.result = coordinator->result;
  state.job.reason = coordinator->trouble();
  state.job.code = coordinator->code.empty() ? kFailedJob : std::atoi(coordinator->code.c_str());
  if (coordinator->over()) {
    state.job.name = state.job.code == 0 ? "COMPLETED" : "FAILED";
    if (state.job.reason.empty() && state.job.code > 128)
      state.job.reason = "was killed by " + signal_name(state.job.code - 128);
  } else {
    state.job.name = coordinator->phase == "Running" ? "RUNNING" : "PENDING";
  }
  return state;
}

CoordinatorState Kubectl::poll(const std::string& run) const {
  for (ContainerState& pod : containers_of(run)) {
    if (pod.is_coordinator()) return state_of(std::move(pod));
  }
  return state_of(std::nullopt);
}

void Kubectl::stop(const std::string& run) const { ask({"delete", "pod", coordinator_pod(run), "--wait=false"}); }

std::vector<std::string> Kubectl::logs_command(const std::string& run) const {
  return with_arguments(command_, {"logs", "--follow", coordinator_pod(run)});
}

}  // namespace lp::launch
