#pragma once
// The seam between the coordinator, which decides, and where nodes run. A unit is what lives and dies together: a
// process and its nodes. All of it happens in the loop thread of a run; no call waits.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "launchers/os/exit_status.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/base/scheduler.h"

namespace lp {
class Error;
struct PeerState;
struct Progress;

namespace internal {

struct Measurement;

// What happened to nodes. Events of an incarnation that is over are ignored by who receives them.
class HostEvents {
 public:
  virtual ~HostEvents() = default;
  virtual void on_spawned(std::size_t unit, std::uint32_t incarnation, int pid) = 0;  // only where units are processes
  virtual void on_ready(NodeId node, std::uint32_t incarnation, const std::string& endpoint) = 0;
  virtual void on_finished(NodeId node, std::uint32_t incarnation) = 0;  // run() returned
  virtual void on_failed(NodeId node, std::uint32_t incarnation, const Error& error) = 0;
  virtual void on_stop_requested(NodeId node, std::uint32_t incarnation, const std::string& reason) = 0;
  virtual void on_progress(NodeId node, std::uint32_t incarnation, const Progress& progress) = 0;
  virtual void on_saved(NodeId node, std::uint32_t incarnation, std::uint64_t step) = 0;
  virtual void on_not_saved(NodeId node, std::uint32_t incarnation, std::uint64_t step, const Error& error) = 0;
  virtual void on_alive(NodeId node, std::uint32_t incarnation) = 0;  // the answer to a probe
  // Before it, where it has to wait for the service's turn: what has that, and for how long.
  virtual void on_busy(NodeId node, std::uint32_t incarnation, const std::string& work, Duration age) = 0;
  virtual void on_measured(std::size_t unit, std::uint32_t incarnation,
                           Measurement part) = 0;  // of what was asked: its process's use, or its calls
  virtual void on_exited(std::size_t unit, std::uint32_t incarnation, const ExitStatus& status) = 0;
  virtual void on_lost(const std::string& text) = 0;  // the host itself failed: nothing runs there any more
  virtual void on_room() = 0;                         // place() may succeed where it has failed
  virtual void on_news(const std::string& text) = 0;  // of hosts, for people
};

class Host {
 public:
  virtual ~Host() = default;
  // Makes the keys of the unit's next incarnation; returns the public one. Empty: its nodes need none.
  virtual std::string make_key(std::size_t unit) = 0;
  // Gives a unit of elastic groups a place to start at, if it has none. Why there is none; empty: it has one. `needed`:
  // it has one if there is any way, also where all slots are in use.
  virtual std::string place(std::size_t unit, bool needed) = 0;
  // The program goes on without the unit: others may have its place.
  virtual void release(std::size_t unit) = 0;
  // on_ready for each node, or on_failed, or on_exited follows. `cut` is the directory to load from; empty: none.
  virtual void start(std::size_t unit, std::uint32_t incarnation, const std::filesystem::path& cut) = 0;
  // Why a unit that was told to start waits with it; empty: it does not.
  virtual std::string delay(std::size_t unit) = 0;
  // News for a unit, about the nodes that its nodes call or are called by.
  virtual void update(std::size_t unit, std::span<const PeerState> peers) = 0;
  virtual void run(NodeId node) = 0;
  // What on_saved told is dealt with: the node may save again.
  virtual void may_save(NodeId node) = 0;
  // on_exited follows if it obeys. The run ends: all others are stopped now, too.
  virtual void stop(std::size_t unit, const std::string& reason, bool run_ends) = 0;
  virtual void kill(std::size_t unit) = 0;  // on_exited follows, soon
  virtual void probe(NodeId node) = 0;
  // on_measured follows for each of these units: what their processes use, if they have any of their own, and their
  // calls.
  virtual void measure(std::span<const std::size_t> units) = 0;
  // Ends everything by force, because a kill was not obeyed. on_exited for each, or on_lost, follows.
  virtual void abandon(const std::string& why) = 0;
};

}  // namespace internal
}  // namespace lp
