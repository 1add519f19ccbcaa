#pragma once
// How a program is launched: the options of lp::Run. A value; lp::main fills it from the flags of the command line.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "launchers/plan/hosts.h"
#include "lp/base/scheduler.h"
#include "lp/config/placement.h"
#include "lp/rpc/core/path.h"

namespace lp {

enum class Show : std::uint8_t { lines, progress, none };  // on the terminal: what nodes print and how far they are

class Run;

struct LaunchOptions {
  Launch launch = Launch::threads;
  // For processes: under which name main() gave the program to become_node_if_asked, and its configuration, by to_yaml.
  std::string entry{};
  std::string configuration{};

  // For ssh: where the processes run, and the command, with its options, that reaches a host.
  std::vector<HostSpec> hosts{};
  std::string ssh = "ssh";

  std::uint64_t seed = 0;
  std::string name{};                              // of the run; empty: the program's, the time, and some letters
  std::filesystem::path directory{};               // of the run; empty: nothing is written, and no checkpoint is taken
  std::filesystem::path resume{};                  // a run directory, to go on from the last complete cut there
  Duration heartbeat = std::chrono::seconds(30);   // a service that does not answer for so long has failed
  Duration grace = std::chrono::seconds(10);       // to end after a stop; then it is ended by force
  Duration start = std::chrono::minutes(5);        // to be constructed and loaded
  Duration time_margin = std::chrono::minutes(1);  // from SIGUSR2 to the end of its time: half of it for a last cut
  Duration deadline = std::chrono::seconds(60);    // of a call, where neither the call nor the method says
  int keep_cuts = 3;                               // complete cuts that stay on disk
  std::uint64_t log_bytes = std::uint64_t{24} << 20;  // of each node, at most

  Show show = Show::none;
  bool all_to_error = false;  // what nodes print goes to standard error
  // Ctrl-C, SIGTERM, SIGHUP: the first stops the run in order, the second at once. SIGUSR2: stops it after its next
  // cut.
  bool handle_signals = false;
  Path path = Path::nearest;         // one path that calls must take, for tests
  std::string listen = "127.0.0.1";  // address of this host; beyond loopback, traffic has keys
  bool curve = false;                // TCP has keys, also on loopback
  std::size_t shared_memory = 0;     // bytes that the big arrays of a process may take; 0: as many as the machine has
  bool serialize = false;            // calls inside a process go through bytes, too
  std::vector<GroupPlacement> placements{};  // replace what the program says of its groups
  bool serve_forever = true;                 // a program without any run() is fine: it ends when it is stopped
  bool pin = false;                          // processes with `cpus` of one or more get cores of their own
  std::string debug{};           // the node that runs under a debugger on this terminal; nothing counts as hanging then
  std::set<std::string> idle{};  // groups whose run() is switched off

  // Called when the work is done and services still serve, in a thread of its own. What it throws fails the run; but
  // when nodes were restored meanwhile from a cut, it is called again once their work is done again.
  std::function<void(Run&)> report{};
};

}  // namespace lp
