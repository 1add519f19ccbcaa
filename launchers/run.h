#pragma once
// A running program: the result of a launch.
//
//   lp::Run run(make_program(config), {.launch = lp::LaunchType::threads});
//   double loss = run.client<Server>("server").call<&Server::loss>();
//   run.stop("enough");
//   if (!run.wait().success) std::cerr << run.wait().cause.text();
//
// Any thread may use a Run, and several may run at once in one process. A Run installs signal handlers only on
// request, and never ends the process. Its destructor stops the program and waits for its end.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/plan/launch_options.h"
#include "launchers/record/saved_curves.h"
#include "launchers/record/status.h"
#include "lp/base/scheduler.h"
#include "lp/program/program.h"
#include "lp/program/runtime.h"

namespace lp {

namespace launch {
class RunState;
struct Launch;
}  // namespace launch

class Run {
 public:
  // Checks everything, and starts the program. Throws Error before anything has started when a check fails.
  Run(Program program, LaunchOptions options);
  // Starts a launch that was checked.
  explicit Run(launch::Launch launch);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Waits for the end of the program and returns its result, whatever it is.
  const RunResult& wait();
  // Returns false when the program has not ended after `duration`.
  bool wait_for(Duration duration);
  // Waits until every node is constructed and serves. Returns false when that takes longer than `duration`, or will
  // never happen.
  bool wait_ready(Duration duration);

  // Ends the program in order; returns at once. The first reason counts.
  void stop(const std::string& reason);
  // Ends the program at once, by force.
  void kill();

  // Keeps the result of the report, as JSON, in the run's directory. The report calls it.
  void keep_report(std::string json);

  // The values that a node has reported so far with Context::report, as the run's directory keeps them: from the first
  // step of the training, whatever was restarted, or resumed from an earlier run. None without a directory. Throws
  // Error when a file cannot be read.
  NodeCurves curves(const std::string& node) const;

  RunStatus status() const;
  std::string metrics_url() const;  // empty: LaunchOptions::metrics is
  const std::string& name() const;
  const std::filesystem::path& directory() const;
  const Program& program() const;
  // one entry per process: its nodes' names, joined by commas; logs have the same names
  std::vector<std::string> processes() const;
  std::uint64_t seed() const;  // the seed of the whole program

  // Calls a node, or all nodes of a group, from outside: by name ("server", "worker/3") or by the handle that the
  // program returned. Fails with Error::failed when no node has this name and class, or the group has another size.
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
  std::unique_ptr<launch::RunState> state_;
};

}  // namespace lp
