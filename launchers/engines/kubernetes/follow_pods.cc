#include "launchers/engines/kubernetes/follow_pods.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "launchers/control/message_stream.h"
#include "launchers/engine_interface/follow.h"
#include "launchers/os/spawn.h"
#include "lp/base/descriptor.h"
#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

constexpr auto kOutputTimeout = std::chrono::minutes(2);  // for the rest of the output of a program that has ended
constexpr int kNoPod = 1;
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

// Returns true for a problem that will not end by itself.
bool cannot_begin(const std::string& reason) {
  constexpr std::array<std::string_view, 5> kReasons{"ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName",
                                                     "CreateContainerConfigError", "RunContainerError"};
  return std::find(kReasons.begin(), kReasons.end(), reason) != kReasons.end();
}

class FollowedPods final : public FollowedJob {
 public:
  FollowedPods(const Kubectl& kubectl, std::string run, bool json)
      : kubectl_(kubectl), run_(std::move(run)), lines_(kubectl.logs_command(run_), json) {}

  void ask() override { containers_ = kubectl_.containers_of(run_); }
  std::optional<int> report(Poller& poller) override;
  bool take_output(Poller& poller) override;
  void cancel() override;
  const CoordinatorState& state() const { return state_; }

 private:
  std::optional<ContainerState> take_coordinator();
  void begin_output(const ContainerState& coordinator, Poller& poller);

  const Kubectl& kubectl_;
  const std::string run_;
  Lines lines_;
  std::vector<ContainerState> containers_;
  std::map<std::string, std::string> said_;  // the reports so far, by pod
  bool over_ = false;                        // the coordinator has ended
  bool whole_ = false;                       // the stream began after the program had ended, so it is complete
  bool stopped_ = false;
  Time late_ = kNever;  // the deadline for the output after the program's end, and for the end of a deleted coordinator
  CoordinatorState state_;
};

std::optional<int> FollowedPods::report(Poller& poller) {
  std::optional<ContainerState> coordinator = take_coordinator();
  over_ = coordinator.has_value() && coordinator->over();
  if (over_) late_ = std::min(late_, after(kOutputTimeout));
  if (coordinator.has_value() && !over_ && !coordinator->deleted.empty()) {
    late_ = std::min(late_, after(coordinator->time_to_end()));
    if (passed(late_)) coordinator.reset();  // its kubelet is unreachable
  }
  const bool there = coordinator.has_value();
  if (there) begin_output(*coordinator, poller);
  if ((there && !over_) || (lines_.is_open() && !passed(late_))) return std::nullopt;
  lines_.finish();
  state_ = state_of(coordinator);
  if (stopped_ && (!there || state_.job.code == kTerminated)) return kInterrupted;
  return there ? state_.job.code : kNoPod;
}

// Reports the problems of all pods. Returns the coordinator's container; nothing: there is none.
std::optional<ContainerState> FollowedPods::take_coordinator() {
  std::optional<ContainerState> coordinator;
  for (ContainerState& pod : containers_) {
    const std::string trouble = pod.trouble();
    if (!trouble.empty() && std::exchange(said_[pod.host], trouble) != trouble) {
      log_line("pod " + pod.host + " " + trouble);
    }
    if (pod.is_coordinator()) coordinator = std::move(pod);
  }
  return coordinator;
}

void FollowedPods::begin_output(const ContainerState& coordinator, Poller& poller) {
  if (!stopped_ && cannot_begin(coordinator.waits)) {
    throw Error(ErrorKind::failed,
                "the program cannot start in Kubernetes: the coordinator's pod " + coordinator.trouble());
  }
  if (lines_.is_open() || whole_ || (coordinator.phase != "Running" && coordinator.code.empty())) return;
  lines_.begin();
  poller.add(lines_.fd(), 0);
  whole_ = over_;
}

bool FollowedPods::take_output(Poller& poller) {
  if (lines_.pass()) return false;
  poller.remove(lines_.fd());
  lines_.end();
  return over_;
}

void FollowedPods::cancel() {
  stopped_ = true;
  log_line(run_ + " is stopped; another Ctrl-C removes it at once");
  kubectl_.stop(run_);
}

}  // namespace

std::pair<int, CoordinatorState> follow_pods(const Kubectl& kubectl, const std::string& run, bool json) {
  FollowedPods pods(kubectl, run, json);
  const int code = follow(pods);
  return {code, pods.state()};
}

}  // namespace lp::launch
