#pragma once
// What a launch returns: a program that runs.
//
//   lp::Run run(make_program(config), {.launch = lp::Launch::threads});
//   double loss = run.client<Server>("server").call<&Server::loss>();
//   run.stop("enough");
//   if (!run.wait().success) std::cerr << run.wait().cause.text();
//
// Any thread may use a Run, and several may run at once in one process. A Run installs no signal handlers unless it is
// asked to, and never ends the process. Its destructor stops the program and waits for its end.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/plan/hosts.h"
#include "launchers/record/status.h"
#include "lp/base/scheduler.h"
#include "lp/config/placement.h"
#include "lp/program/program.h"
#include "lp/program/runtime.h"

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

class Run {
 public:
  // Checks everything, and starts. Throws Error, before anything has started, when something is wrong.
  Run(Program program, LaunchOptions options);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Waits for the end of the program, however it ends.
  const RunResult& wait();
  // False when it has not ended after `duration`.
  bool wait_for(Duration duration);
  // Waits until every node is constructed and serves; false when that is not so after `duration`, or never will be.
  bool wait_ready(Duration duration);

  // Ends the program in order; returns at once. The first reason counts.
  void stop(const std::string& reason);
  // Ends it at once, by force.
  void kill();

  // What the report has found, as JSON: it stays in the run's directory. For the report to call.
  void keep_report(std::string json);

  RunStatus status() const;
  const std::string& name() const;
  const std::filesystem::path& directory() const;
  const Program& program() const;
  std::vector<std::string> processes() const;  // the names of their nodes, joined by commas: also those of their logs
  std::uint64_t seed() const;                  // of the whole program

  // Calls a node, or all of a group, from outside, by name ("server", "worker/3") or by the handle that the program
  // returned. Error::failed when there is none of this name, class and size.
  template <class S>
  Client<S> client(std::string_view node) {
    return client(program().handle<S>(node));
  }
  template <class S>
  Clients<S> clients(std::string_view group) {
    return client(program().group_handle<S>(group));
  }
  template <class S>
  Client<S> client(const Handle<S>& handle) {
    return runtime().client(handle);
  }
  template <class S>
  Clients<S> client(const GroupHandle<S>& group) {
    return runtime().client(group);
  }

 private:
  Runtime& runtime();
  struct State;
  std::unique_ptr<State> state_;
};

// The same as constructing a Run.
inline Run launch(Program program, LaunchOptions options) { return Run(std::move(program), std::move(options)); }

}  // namespace lp
