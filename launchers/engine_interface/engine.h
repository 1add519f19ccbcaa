#pragma once
// An engine runs the nodes of a program somewhere: as threads, as processes of this host, of others, of a job. Each has
// a folder of its own and a line in launchers/all_engines.cc; everything else knows this interface only.
//
// An engine has no state. Engines (engines.h) owns it; any thread may use it, except for reserve().

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/engine_interface/jobs.h"
#include "launchers/engine_interface/launch_type.h"

namespace lp {
struct RunResult;

namespace launch {

class AgentStarter;
class RunNodes;
struct Launch;
struct RunParts;

// A flag of LaunchFlags that has a meaning for some engines only.
struct EngineFlag {
  std::string_view name{};  // "time_margin"
  bool alone = false;       // it has a meaning only where all groups of the program have the same engine
};

// The resources that an engine has granted to a launcher. They go back with its end.
class Reservation {
 public:
  virtual ~Reservation() = default;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual LaunchType type() const = 0;
  // The flags that have a meaning for it, of those that have none for another.
  virtual std::vector<EngineFlag> flags() const = 0;
  // Why it has all groups of a program or none; empty: it may have some of them.
  virtual std::string_view why_alone() const { return {}; }
  // Its nodes run on this host, so that the plan is checked against the resources of this host.
  virtual bool on_this_host() const { return false; }
  // Throws Error when it cannot fulfil the launch, as far as that is known before anything starts.
  virtual void check(const Launch& launch) const = 0;

  // A launch from here becomes a job, which runs the program again.
  virtual bool submits() const { return false; }
  // Makes the launch a job, and follows it to its end as the flags require. Returns the exit code; nothing: the program
  // runs here. Throws Error with the problem or with the engine's message; then nothing is left.
  virtual std::optional<int> submit(const Launch&) const { return std::nullopt; }
  // A run is named like the directory that --directory gives it, so that the next start of its job finds it.
  virtual bool names_run_by_directory() const { return false; }
  // The job of this process; null: it is in none.
  virtual const OwnJob* own_job() const { return nullptr; }
  // Its jobs, seen from outside; null: it has none, and the launching process is the coordinator.
  virtual const Jobs* jobs() const { return nullptr; }

  // Requests the resources of its groups, where it grants them outside a job. Null: it needs no request. It may change
  // the environment: call it before there are threads. Throws Error when they are refused.
  virtual std::unique_ptr<Reservation> reserve(const Launch&) const { return nullptr; }
  // Makes the mark by which the processes of a run are found (run_mark).
  virtual std::string new_mark(const std::string& run) const;
  // How it starts the agents of its hosts; null: its nodes are threads of this process.
  virtual const AgentStarter* agents() const = 0;
  // The nodes of a run whose engine it is. Throws Error when an agent cannot be started; then nothing is left running.
  virtual std::unique_ptr<RunNodes> make_nodes(const RunParts& parts) const = 0;
};

}  // namespace launch
}  // namespace lp
