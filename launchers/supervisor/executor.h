#pragma once
// The seam between the coordinator, which decides, and the place where nodes run. A unit lives and dies as a whole: it
// is a process and its nodes. All calls come from the loop thread of a run, and none of them waits.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "launchers/os/exit_status.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/base/scheduler.h"

namespace lp {
struct NodeEvent;
struct PeerState;

namespace internal {

struct Measurement;

// Reports what happens to nodes and units. The receiver ignores events of an incarnation that is over.
class ExecutorEvents {
 public:
  virtual ~ExecutorEvents() = default;
  virtual void on_spawned(std::size_t unit, std::uint32_t incarnation, int pid) = 0;  // only where units are processes
  virtual void on_event(const NodeEvent& event) = 0;
  virtual void on_measured(std::size_t unit, std::uint32_t incarnation,
                           // a part of the answer to measure(): the process's resources, or its calls
                           Measurement part) = 0;
  virtual void on_exited(std::size_t unit, std::uint32_t incarnation, const ExitStatus& status) = 0;
  virtual void on_lost(const std::string& text) = 0;  // the host itself failed: nothing runs there any more
  virtual void on_room() = 0;                         // place() may succeed where it has failed
  virtual void on_news(const std::string& text) = 0;  // news of hosts, for people
};

class Executor {
 public:
  virtual ~Executor() = default;
  // Makes the keys of the unit's next incarnation and returns the public one. Empty: its nodes need none.
  virtual std::string make_key(std::size_t unit) = 0;
  // Assigns a place to a unit of elastic groups, unless it has one. Returns why that is impossible; empty: it has one.
  // `needed`: the unit may also exceed the slots of a host.
  virtual std::string place(std::size_t unit, bool needed) = 0;
  // Frees the place of the unit for others, because the program continues without it.
  virtual void release(std::size_t unit) = 0;
  // Ready or Failed follows for each node, or on_exited. `cut` is the directory from which the nodes load;
  // empty: none.
  virtual void start(std::size_t unit, std::uint32_t incarnation, const std::filesystem::path& cut) = 0;
  // Returns why the start of the unit is delayed; empty: it is not.
  virtual std::string delay(std::size_t unit) = 0;
  // Sends updates to a unit about the nodes that its nodes call, and about the nodes that call them.
  virtual void update(std::size_t unit, std::span<const PeerState> peers) = 0;
  virtual void run(NodeId node) = 0;
  // The node's event Saved has been handled: the node may save again.
  virtual void may_save(NodeId node) = 0;
  // Asks the unit to stop; on_exited follows if it does. `run_ends`: all other units are stopped now, too.
  virtual void stop(std::size_t unit, const std::string& reason, bool run_ends) = 0;
  virtual void kill(std::size_t unit) = 0;  // on_exited follows soon
  virtual void probe(NodeId node) = 0;      // Alive follows, and Busy before it where the probe waits
  // on_measured follows for each of these units: the resources of its process, if it has one of its own, and its calls.
  virtual void measure(std::span<const std::size_t> units) = 0;
  // Ends everything by force, because a kill had no effect. on_exited for each unit, or on_lost, follows.
  virtual void abandon(const std::string& why) = 0;
};

}  // namespace internal
}  // namespace lp
