#pragma once
// What a run is doing, and what became of it, for people and tools. Values.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "launchers/os/exit_status.h"
#include "lp/base/scheduler.h"

namespace lp {

enum class Phase : std::uint8_t {
  starting,  // not every node is ready yet
  running,
  reporting,  // the work is done; services still serve
  stopping,
  ended,
};

// Why a run failed: the first failure that its policy did not forgive.
struct Cause {
  // "worker/1"; several of one process: joined by commas; "report"; "agent": of the launcher's host; empty: the
  // launcher
  std::string node{};
  std::uint32_t incarnation = 0;
  std::string what{};                     // "std::runtime_error: no such file", "was killed by signal 9 (SIGKILL)"
  ExitStatus exit{};                      // of its process, where that ended
  bool hanging = false;                   // it did not answer
  std::vector<std::string> last_lines{};  // of its standard error, backtrace excluded
  std::vector<std::string> backtrace{};

  // Several lines: who and what first, then the backtrace and the last lines.
  std::string text() const;
};

struct NodeStatus {
  // absent: a member of an elastic group, without which the program goes on.
  enum class State : std::uint8_t { waiting, starting, ready, running, finished, failed, ended, absent };
  std::string name{};
  State state = State::waiting;
  std::uint32_t incarnation = 0;
  int restarts = 0;
  std::string host{};       // where its process is; empty: on that of the launcher
  int pid = 0;              // of its process; 0: it has none of its own, or none now
  std::uint64_t step = 0;   // of its progress
  std::uint64_t total = 0;  // 0: unknown
  std::map<std::string, double> values{};
  std::string text{};  // of its last failure
  // What its service's turn is taken by: "pull(), called by worker/1", and for how many seconds it has been when this
  // is told; empty: by nothing that lasts.
  std::string work{};
  double work_seconds = 0;
};

struct RunStatus {
  std::string run{};
  Phase phase = Phase::starting;
  std::vector<NodeStatus> nodes{};
  std::uint64_t cut = 0;  // the step of the last complete cut; 0: none
  std::string stalled{};  // that nothing has moved, for how long, and who waits for what; empty: it moves
};

// How a run ended. Stopped: somebody outside ended it, before it had ended by itself.
enum class Ending : std::uint8_t { succeeded, failed, stopped };

struct RunResult {
  static constexpr int kStopped = 3;

  bool success = false;
  std::string reason{};      // why it ended
  std::string stopped_by{};  // who outside the program wanted that: "ann (lp stop)", "SIGINT"; then it is no success
  int signal = 0;            // that asked this process to end the run
  Cause cause{};             // when it failed

  Ending ending() const { return success ? Ending::succeeded : cause.what.empty() ? Ending::stopped : Ending::failed; }
  int exit_code() const {
    if (ending() != Ending::stopped) return success ? 0 : 1;
    return signal != 0 ? 128 + signal : kStopped;
  }
};

// "by ann (lp stop): enough", "by SIGINT": of a run that was stopped.
std::string stop_text(const std::string& stopped_by, const std::string& reason);

}  // namespace lp
