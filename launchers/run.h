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
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/plan/launch_options.h"
#include "launchers/record/status.h"
#include "lp/base/scheduler.h"
#include "lp/program/program.h"
#include "lp/program/runtime.h"

namespace lp {

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
