#pragma once
// The state of a run and its result, for people and tools. Values.

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
  // "worker/1"; several nodes of one process are joined by commas; "report"; "agent": the agent of the launcher's host;
  // "directory": that of the run; empty: the launcher
  std::string node{};
  std::uint32_t incarnation = 0;
  std::string host{};                     // the host of its process; empty: the launcher's host
  std::string what{};                     // "std::runtime_error: no such file", "was killed by signal 9 (SIGKILL)"
  ExitStatus exit{};                      // the end of its process, if it ended
  bool hanging = false;                   // it did not answer
  std::vector<std::string> last_lines{};  // the last lines of its standard error, without the backtrace
  std::vector<std::string> backtrace{};

  // Several lines: the node and the failure first, then the backtrace and the last lines.
  std::string text() const;
};

struct NodeStatus {
  // absent: a member of an elastic group, without which the program goes on.
  enum class State : std::uint8_t { waiting, starting, ready, running, finished, failed, ended, absent };
  std::string name{};
  State state = State::waiting;
  std::uint32_t incarnation = 0;
  int restarts = 0;         // those that its policy has paid for
  std::string host{};       // the host of its process; empty: the launcher's host
  int pid = 0;              // the id of its process; 0: it has none of its own, or none now
  std::uint64_t step = 0;   // the step of its progress
  std::uint64_t total = 0;  // 0: unknown
  std::map<std::string, double> values{};
  std::string text{};     // the text of its last failure
  bool given_up = false;  // failed or absent: the program goes on without it
  // The work that has the turn of its service: "pull(), called by worker/1"; empty: no work lasts. work_seconds is how
  // long it has lasted at the time of the status.
  std::string work{};
  double work_seconds = 0;
};

// All restarts of the node since its launcher began: after failures, on request, or together with another node.
inline std::uint32_t restarts_of(const NodeStatus& node) { return node.incarnation > 0 ? node.incarnation - 1 : 0; }

struct RunStatus {
  std::string run{};
  Phase phase = Phase::starting;
  std::vector<NodeStatus> nodes{};
  std::uint64_t cut = 0;  // the step of the last complete cut; 0: none
  std::string unsaved{};  // why the last checkpoint was not saved; empty: it was, or none was due
  std::string stalled{};  // that nothing has moved, for how long, and who waits for what; empty: it moves
};

// How a run ended. Stopped: somebody outside ended it before it ended by itself.
enum class Ending : std::uint8_t { succeeded, failed, stopped };

struct RunResult {
  static constexpr int kStopped = 3;

  bool success = false;
  std::string reason{};  // why it ended
  // who outside the program ended it: "ann (lp stop)", "SIGINT"; the run then has no success
  std::string stopped_by{};
  int signal = 0;  // the signal that asked this process to end the run
  Cause cause{};   // set when the run failed

  Ending ending() const { return success ? Ending::succeeded : cause.what.empty() ? Ending::stopped : Ending::failed; }
  int exit_code() const {
    if (ending() != Ending::stopped) return success ? 0 : 1;
    return signal != 0 ? 128 + signal : kStopped;
  }
};

// "by ann (lp stop): enough", "by SIGINT": of a run that was stopped.
std::string stop_text(const std::string& stopped_by, const std::string& reason);

}  // namespace lp
