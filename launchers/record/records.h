#pragma once
// What a run leaves in its directory for people and tools, beside its plan and status: who launched it, what happened,
// and what came of it. Values, which to_json and from_json know. Times are seconds since 1970.

#include <cstdint>
#include <string>
#include <vector>

#include "launchers/record/status.h"

namespace lp {

// run.json: written before anything starts.
struct RunRecord {
  std::string run{};
  std::string program{};
  std::string launch{};     // "threads", "processes"
  std::string job{};        // of Slurm, in which it runs; empty: in none, or not yet
  std::string host{};       // of the launcher; of a job that has not begun: where it was submitted
  std::string binary{};     // the program's file there
  std::string directory{};  // of the run, there
  std::string kubectl{};    // the command that reaches the cluster where it runs; empty: in none
  int pid = 0;
  double began = 0;
  std::uint64_t seed = 0;
  std::string resumed{};               // the run directory that it goes on from; empty: none
  std::vector<std::string> command{};  // of the launcher
};

// A line of events.log.
struct RunEvent {
  enum class Kind : std::uint8_t {
    starting,    // an incarnation of a node
    ready,       // it serves
    finished,    // its run() has returned
    failed,      // why, in `text`
    restarting,  // when and from where, in `text`
    ignored,     // the program goes on without it
    cut,         // the program's: `text` tells the step
    phase,       // the program's new phase, in `text`
    ended,       // the program, and why
    left,        // a member of an elastic group, and why, in `text`
    came,        // one that was not there
    cut_failed,  // the program's, and why, in `text`
    stalled,     // nothing moves in the program: who waits for what, in `text`
    moved,       // and now something does again
  };
  double time = 0;
  Kind kind = Kind::starting;
  std::string node{};  // or several of one process, joined by commas; empty: the program
  std::uint32_t incarnation = 0;
  std::string text{};
};

// result.json: written when the run has ended. In the file there is also `report`: what the program's report found.
struct ResultRecord {
  bool success = false;
  std::string reason{};
  std::string stopped_by{};  // who outside the program ended the run; empty: nobody
  int signal = 0;            // that asked the launcher to end the run; 0: none
  int exit_code = 0;
  Cause cause{};
  double ended = 0;
  double seconds = 0;  // since the run began
};

}  // namespace lp
