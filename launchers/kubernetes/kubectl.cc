#include "launchers/kubernetes/kubectl.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "launchers/control/message_stream.h"
#include "launchers/kubernetes/manifests.h"
#include "launchers/os/exit_status.h"
#include "launchers/os/signals.h"
#include "launchers/os/spawn.h"
#include "launchers/record/run_directory.h"
#include "lp/base/descriptor.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/base/json_value.h"
#include "lp/base/scheduler.h"

namespace lp::internal {
namespace {

constexpr auto kPeriod = std::chrono::seconds(1);       // between two queries of the pods
constexpr auto kTimeToTell = std::chrono::seconds(10);  // for the kubelet to report that a pod has ended
constexpr auto kPatience = std::chrono::minutes(2);     // for a cluster that does not answer
constexpr const char* kKinds = "job,pod,service,secret,configmap,serviceaccount";
constexpr const char* kCoordinator = "coordinator";
constexpr const char* kOutOfMemory = "OOMKilled";
constexpr int kFailed = 1;
constexpr int kTerminated = 128 + 15;  // the exit code of a program that Kubernetes has stopped

// The program's output, passed on line by line as it comes. The stream may break off silently, for example when its
// kubelet is unreachable for a while. Then it begins again, and the part that came before is skipped. With `json` the
// result, which is the last line that is an object, goes to standard output at the end. All other lines go to standard
// error, because the cluster keeps no order between the two streams.
class Lines {
 public:
  Lines(std::vector<std::string> command, bool json) : command_(std::move(command)), json_(json) {}
  ~Lines() { end(); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  bool is_open() const { return static_cast<bool>(stream_); }
  int fd() const { return stream_.number(); }

  void begin() {
    const SocketPair ends = make_socket_pair();
    stream_ = Descriptor(ends.ours);
    const Descriptor theirs(ends.theirs);
    const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    process_ = spawn_command(command_, {.input = nothing.number(), .output = theirs.number()});
    skip_ = passed_;
  }
  void end() {
    stream_ = Descriptor();
    if (process_ < 0) return;
    kill(-process_, SIGKILL);  // it may wait for a kubelet that does not answer
    waitpid(std::exchange(process_, -1), nullptr, 0);
  }

  // Passes on the available bytes. Returns false at the end.
  bool pass() {
    std::array<char, 65536> bytes;
    ssize_t got = 0;
    while ((got = recv(fd(), bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0) {
      const auto known = std::min(static_cast<std::size_t>(got), skip_);
      skip_ -= known;
      passed_ += static_cast<std::size_t>(got) - known;
      text_.append(bytes.data() + known, static_cast<std::size_t>(got) - known);
      std::size_t begin = 0;
      for (std::size_t end = 0; (end = text_.find('\n', begin)) != std::string::npos; begin = end + 1) {
        take(text_.substr(begin, end + 1 - begin));
      }
      text_.erase(0, begin);
    }
    std::fflush(json_ ? stderr : stdout);
    return got != 0;
  }
  void finish() {
    take(std::exchange(text_, {}));
    std::fputs(result_.c_str(), stdout);
    std::fflush(stdout);
  }

 private:
  void take(std::string line) {
    if (json_ && line.starts_with('{')) std::swap(line, result_);
    std::fwrite(line.data(), 1, line.size(), json_ ? stderr : stdout);
  }

  const std::vector<std::string> command_;
  const bool json_;
  Descriptor stream_;
  pid_t process_ = -1;
  std::size_t passed_ = 0;  // bytes of the stream that were printed
  std::size_t skip_ = 0;    // bytes that the restarted stream repeats
  std::string text_;        // the beginning of an unfinished line
  std::string result_;      // the last line that looks like the result
};

std::vector<std::string> with_arguments(std::vector<std::string> command, const std::vector<std::string>& arguments) {
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

// Selects the objects of a run.
std::string selector(const std::string& run) { return std::string("--selector=") + kRunLabel + "=" + object_name(run); }

// Returns true for a problem that will not end by itself.
bool cannot_begin(const std::string& reason) {
  constexpr std::array<std::string_view, 5> kReasons{"ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName",
                                                     "CreateContainerConfigError", "RunContainerError"};
  return std::find(kReasons.begin(), kReasons.end(), reason) != kReasons.end();
}

// Kubernetes keeps only the beginning of a text that is too long.
bool is_record(const std::string& text) {
  try {
    return JsonValue::parse(text).find("success") != nullptr;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

// The container of a pod.
struct Kubectl::Pod {
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

  Duration time_to_end() const { return std::chrono::seconds(std::atoi(grace.c_str())) + kTimeToTell; }
  bool over() const { return !code.empty() || phase == "Failed"; }  // an evicted pod may have no code
};

std::string Kubectl::ask(const std::vector<std::string>& arguments, Duration limit) const {
  return run_or_throw(with_arguments(command_, arguments), limit).text;
}

std::string CoordinatorState::end() const {
  if (job.name.empty()) return "its coordinator's pod is not in the cluster any more: it was deleted, or lost its node";
  return "its coordinator ended with exit code " + std::to_string(job.code) + job.why();
}

ResultRecord keep_result(const std::filesystem::path& directory, const CoordinatorState& state,
                         const std::string& reason) {
  const std::filesystem::path path = directory / "result.json";
  std::ifstream file(path);
  const std::string there{std::istreambuf_iterator<char>(file), {}};
  if (!there.empty()) return from_json<ResultRecord>(JsonValue::parse(there));
  std::string text = state.result;
  if (text.empty()) {
    ResultRecord record{.reason = reason, .stopped_by = reason, .exit_code = kInterrupted};
    if (reason.empty()) {
      record.cause.what = state.end();
      record.exit_code = state.job.name.empty() ? kFailed : state.job.code;
    }
    record.ended = static_cast<double>(wall_clock()) / 1e9;
    text = to_json(record);
  }
  std::string error;
  if (!write_file(path, text + "\n", error)) std::fprintf(stderr, "lp: %s\n", error.c_str());
  return from_json<ResultRecord>(JsonValue::parse(text));
}

void Kubectl::create(const std::string& file) const { ask({"create", "-f", file}); }

void Kubectl::remove(const std::string& run) const {
  const std::vector<std::string> all{"delete", kKinds, "--ignore-not-found", selector(run)};
  Duration longest = kTimeToTell;
  for (const Pod& pod : pods_of(run)) longest = std::max(longest, pod.time_to_end());
  try {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest).count();
    ask(with_arguments(all, {"--timeout=" + std::to_string(seconds) + "s"}), longest + kAnswerLimit);
  } catch (const Error&) {
    // An unreachable kubelet does not report that its pods have ended. It ends them when it is reachable again.
    ask(with_arguments(all, {"--force", "--grace-period=0"}));
  }
}

std::vector<Kubectl::Pod> Kubectl::pods_of(const std::string& run) const {
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
  std::vector<Pod> pods;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    Pod pod;
    for (std::string* field : {&pod.host, &pod.phase, &pod.waits, &pod.text, &pod.ended, &pod.code, &pod.before,
                               &pod.place, &pod.grace, &pod.deleted, &pod.result})
      std::getline(fields, *field, '\t');
    if (!pod.host.empty()) pods.push_back(std::move(pod));
  }
  return pods;
}

// Describes the problem of the pod for people; empty: there is none.
std::string Kubectl::trouble_of(const Pod& pod) {
  if (pod.ended == kOutOfMemory || pod.before == kOutOfMemory) return "was OOMKilled: it took more memory than it may";
  if (!pod.place.empty()) return "waits for a node: " + pod.place;
  if (pod.waits.empty() || pod.waits == "ContainerCreating" || pod.waits == "PodInitializing") return {};
  return "waits: " + pod.waits + (pod.text.empty() ? "" : ": " + pod.text);
}

CoordinatorState Kubectl::state_of(const std::optional<Pod>& coordinator) {
  if (!coordinator.has_value()) return {};
  CoordinatorState state{.result = is_record(coordinator->result) ? coordinator->result : std::string()};
  state.job.reason = trouble_of(*coordinator);
  state.job.code = coordinator->code.empty() ? kFailed : std::atoi(coordinator->code.c_str());
  if (coordinator->over()) {
    state.job.name = state.job.code == 0 ? "COMPLETED" : "FAILED";
    if (state.job.reason.empty() && state.job.code > 128)
      state.job.reason = "was ended by " + signal_name(state.job.code - 128);
  } else {
    state.job.name = coordinator->phase == "Running" ? "RUNNING" : "PENDING";
  }
  return state;
}

std::optional<Kubectl::Pod> Kubectl::coordinator_of(const std::string& run) const {
  for (Pod& pod : pods_of(run)) {
    if (pod.host == kCoordinator) return std::move(pod);
  }
  return std::nullopt;
}

CoordinatorState Kubectl::look_at(const std::string& run) const { return state_of(coordinator_of(run)); }

std::pair<int, CoordinatorState> Kubectl::follow(const std::string& run, bool json) const {
  const std::string pod_name = coordinator_pod(run);
  std::map<std::string, std::string> said;  // the reports so far, by pod
  SignalPoller interrupts;
  Poller poller;
  poller.add(interrupts.fd(), 0);
  std::array<Poller::Ready, 2> ready;
  Lines lines(with_arguments(command_, {"logs", "--follow", pod_name}), json);
  bool whole = false;  // the stream began after the program had ended, so it is complete
  bool stopped = false;
  Time late = kNever;  // the deadline for the output after the program's end, and for the end of a deleted coordinator
  for (Time answered = now();;) {
    const Time asked = now();
    std::optional<Pod> coordinator;
    try {
      for (Pod& pod : pods_of(run)) {
        const std::string trouble = trouble_of(pod);
        if (!trouble.empty() && std::exchange(said[pod.host], trouble) != trouble) {
          std::fprintf(stderr, "lp: pod %s %s\n", pod.host.c_str(), trouble.c_str());
        }
        if (pod.host == kCoordinator) coordinator = std::move(pod);
      }
      answered = now();
    } catch (const Error&) {  // the cluster is busy
      if (now() - answered > kPatience) throw;
    }
    const bool over = coordinator.has_value() && coordinator->over();
    if (over) late = std::min(late, after(kPatience));
    if (coordinator.has_value() && !over && !coordinator->deleted.empty()) {
      late = std::min(late, after(coordinator->time_to_end()));
      if (passed(late)) coordinator.reset();  // its kubelet is unreachable
    }
    const bool there = coordinator.has_value();
    if (there && !stopped && cannot_begin(coordinator->waits)) {
      throw Error(ErrorKind::failed, "the program cannot begin in Kubernetes: it " + said[kCoordinator]);
    }
    if (there && !lines.is_open() && !whole && (coordinator->phase == "Running" || !coordinator->code.empty())) {
      lines.begin();
      poller.add(lines.fd(), 1);
      whole = over;
    }
    const bool ended = there ? over : answered >= asked;
    if (ended && (!lines.is_open() || passed(late))) {
      lines.finish();
      CoordinatorState state = state_of(coordinator);
      if (stopped && (!there || state.job.code == kTerminated)) return {kInterrupted, std::move(state)};
      return {there ? state.job.code : kFailed, std::move(state)};
    }
    for (const Time next = after(kPeriod); !passed(next) && (lines.is_open() || !over);) {
      const std::size_t count = poller.wait(ready, next);
      for (std::size_t i = 0; i < count; ++i) {
        if (ready[i].tag == 0 || lines.pass()) continue;
        poller.remove(lines.fd());
        lines.end();
      }
      while (interrupts.take() != 0) {
        if (std::exchange(stopped, true)) return {kInterrupted, {}};
        std::fprintf(stderr, "lp: %s is stopped; once more, and it is removed at once\n", run.c_str());
        ask({"delete", "pod", pod_name, "--wait=false"});
      }
    }
  }
}

}  // namespace lp::internal
