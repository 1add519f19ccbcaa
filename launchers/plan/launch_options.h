#pragma once
// How a program is launched: the options of lp::Run. A value. lp::main fills it from the flags of the command line.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "launchers/plan/hosts.h"
#include "lp/base/scheduler.h"
#include "lp/config/group_placement.h"
#include "lp/rpc/core/run_settings.h"
#include "lp/rpc/link/path.h"

namespace lp {

// what the terminal shows of the nodes: their lines, or their progress
enum class Show : std::uint8_t { lines, progress, none };

class Run;
namespace launch {
class Engines;
}

struct LaunchOptions {
  LaunchType launch = LaunchType::threads;
  // The engines that `launch` and `placements` may name; null: those of lp (launchers/all_engines.h).
  const launch::Engines* engines = nullptr;
  // For processes: the name of the program in the registry of become_node_if_asked, and its configuration as to_yaml
  // writes it.
  std::string entry{};
  std::string configuration{};

  // For ssh: the hosts of the processes, and the command, with its options, that reaches a host.
  std::vector<HostSpec> hosts{};
  std::string ssh = "ssh";

  std::uint64_t seed = 0;
  std::string name{};                 // the run's name; empty: made of the program's name, the time and some letters
  std::filesystem::path directory{};  // the run's directory; empty: no files are written, and no checkpoint is taken
  std::filesystem::path resume{};     // a run directory; the run continues from its last complete cut
  Duration heartbeat = std::chrono::seconds(30);  // a service that does not answer for so long has failed
  Duration grace = std::chrono::seconds(10);      // the time to end after a stop; then nodes are ended by force
  Duration start = std::chrono::minutes(5);       // the time to be constructed and loaded
  // from SIGUSR2 to the end of the job's time; half of it is for a last cut
  Duration time_margin = std::chrono::minutes(1);
  // the deadline of a call, where neither the call nor the method has one
  Duration deadline = std::chrono::seconds(60);
  int keep_checkpoints = 3;                           // the number of complete cuts that stay on disk
  std::uint64_t log_bytes = std::uint64_t{24} << 20;  // the limit for the log of each node

  Show show = Show::none;
  bool all_to_error = false;  // the output of nodes goes to standard error
  // On Ctrl-C, SIGTERM or SIGHUP, the first signal stops the run in order and the second one at once. SIGUSR2 stops it
  // after its next cut.
  bool handle_signals = false;
  Path path = Path::nearest;         // the path that all calls must take, for tests
  std::string listen = "127.0.0.1";  // the address of this host; beyond loopback, traffic is encrypted
  bool curve = false;                // TCP is encrypted, also on loopback
  std::string metrics{};             // where metrics are served: [ADDRESS:]PORT; empty: nowhere
  std::size_t shared_memory = 0;     // the limit in bytes for the big arrays of a process; 0: all memory of the machine
  bool serialize = false;            // calls inside a process are serialized, too
  std::vector<GroupPlacement> placements{};  // replace options that the program sets for its groups
  bool serve_forever = true;                 // a program without any run() is allowed: it ends when it is stopped
  bool pin = false;                          // processes with `cpus` of one or more get cores of their own
  std::string debug{};           // the node that runs under a debugger on this terminal; nothing counts as hanging then
  std::set<std::string> idle{};  // groups whose run() is not called

  // Called in a thread of its own when the work is done and services still serve. An exception fails the run. If nodes
  // went back to a cut meanwhile, it is called again when their work is done again.
  std::function<void(Run&)> report{};
};

namespace launch {

// The settings that all processes of the run `name` share. Its secrets are not made yet: token, and outside_key.
RunSettings settings_of(const LaunchOptions& options, const std::string& name);

}  // namespace launch

}  // namespace lp
