#pragma once
// The records that a run leaves in its directory for people and tools, beside its plan and status: who launched it, the
// events, and the result. Values that to_json and from_json know. Times are seconds since 1970.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launchers/record/status.h"
#include "lp/base/file.h"
#include "lp/base/json.h"
#include "lp/base/json_value.h"

namespace lp {
namespace launch {
// The file of a submitted run that has the number of its job, from the submission on.
inline constexpr const char* kJobNumber = "job";
}  // namespace launch

// run.json, which is written before anything starts.
struct RunRecord {
  std::string run{};
  std::string program{};
  std::string launch{};     // "threads", "processes"
  std::string job{};        // the Slurm job in which it runs; empty: in none, or not yet
  std::string host{};       // the launcher's host; before a job has begun, the host that submitted it
  std::string binary{};     // the path of the program's file on that host
  std::string directory{};  // the path of the run directory on that host
  std::string kubectl{};    // the command that reaches the run's cluster; empty: it runs in no cluster
  std::string ssh{};        // the command that reaches the launcher's host; empty: ssh
  std::string metrics{};    // the URL of the metrics on that host; empty: none are served
  int pid = 0;
  double began = 0;
  std::uint64_t seed = 0;
  std::string resumed{};               // the run directory that it continues from; empty: none
  std::vector<std::string> command{};  // the launcher's command line
};

// A line of events.log.
struct RunEvent {
  enum class Kind : std::uint8_t {
    starting,    // an incarnation of a node starts
    ready,       // the node serves
    finished,    // the node's run() has returned
    failed,      // the node failed; `text` has the reason
    restarting,  // `text` has the time and the step to which it returns
    ignored,     // the program continues without the node
    cut,         // the program completed a cut; `text` has its step
    phase,       // `text` has the program's new phase
    ended,       // the program has ended; `text` has the reason
    left,        // a member of an elastic group is absent; `text` has the reason
    came,        // an absent member is back
    cut_failed,  // a cut of the program failed; `text` has the reason
    stalled,     // nothing moves in the program; `text` names the nodes that wait, and their calls
    moved,       // the program moves again
  };
  double time = 0;
  Kind kind = Kind::starting;
  std::string node{};  // one node, or several of one process, joined by commas; empty: the program
  std::uint32_t incarnation = 0;
  std::string text{};
};

// result.json, which is written when the run has ended. The file also has `report`: the result of the program's report.
struct ResultRecord {
  bool success = false;
  std::string reason{};
  std::string stopped_by{};  // who ended the run from outside the program; empty: nobody
  int signal = 0;            // the signal that asked the launcher to end the run; 0: none
  int exit_code = 0;
  Cause cause{};
  double ended = 0;
  double seconds = 0;  // from the beginning of the run
};

inline constexpr std::uint64_t kLargestRecord = std::uint64_t{64} << 20;  // bytes of a file with a record

// Returns the record in a file of a run's directory; nothing if there is no such file, or if it is empty. Throws Error
// when the file cannot be read, or holds something else.
template <class Record>
std::optional<Record> read_record(const std::filesystem::path& file) {
  const std::optional<std::string> text = read_text_if_any(file, kLargestRecord);
  if (!text.has_value() || text->empty()) return std::nullopt;
  return from_json<Record>(JsonValue::parse(*text));
}

}  // namespace lp
