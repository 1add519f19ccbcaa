#pragma once
// The seam between the coordinator, which decides, and an executor, which runs nodes. A process is a process of the
// plan: nodes that live and die together. An executor runs them in a process of the system, or as threads. All calls
// come from the loop thread of a run, and none of them waits.

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

namespace launch {

enum class NodeOrder : std::uint8_t {
  run,       // begin run()
  may_save,  // its event Saved has been handled: the node may save again
  probe,     // Alive follows, and Busy before it where the probe waits
};

enum class Inquiry : std::uint8_t;
struct SpanOrder;
struct Measurement;

// Reports what happens to nodes and processes. The receiver ignores events of an incarnation that is over.
class ExecutorEvents {
 public:
  virtual ~ExecutorEvents() = default;
  virtual void on_spawned(std::size_t process, std::uint32_t incarnation, int pid) = 0;  // not where nodes are threads
  virtual void on_event(const NodeEvent& event) = 0;
  virtual void on_measured(std::size_t process, std::uint32_t incarnation,
                           Measurement part) = 0;  // a part of the answer to measure()
  virtual void on_exited(std::size_t process, std::uint32_t incarnation, const ExitStatus& status) = 0;
  virtual void on_lost(const std::string& text) = 0;  // the executor itself failed: nothing runs there any more
  virtual void on_room() = 0;                         // place() may succeed where it has failed
  virtual void on_news(const std::string& text) = 0;  // news of hosts, for people
};

class Executor {
 public:
  virtual ~Executor() = default;
  // Makes the keys of the process's next incarnation and returns the public one. Empty: its nodes need none.
  virtual std::string make_key(std::size_t process) = 0;
  // Assigns a place to a process of elastic groups, unless it has one. Returns why that is impossible; empty: it has
  // one. `needed`: the process may also exceed the slots of a host.
  virtual std::string place(std::size_t process, bool needed) = 0;
  // Frees the place of the process for others, because the program continues without it.
  virtual void release(std::size_t process) = 0;
  // Ready or Failed follows for each node, or on_exited. `cut` is the directory from which the nodes load;
  // empty: none.
  virtual void start(std::size_t process, std::uint32_t incarnation, const std::filesystem::path& cut) = 0;
  // Returns why the start of the process is delayed; empty: it is not.
  virtual std::string delay(std::size_t process) = 0;
  // Sends updates to a process about the nodes that its nodes call, and about the nodes that call them.
  virtual void update(std::size_t process, std::span<const PeerState> peers) = 0;
  virtual void order(NodeId node, NodeOrder what) = 0;
  // Notifies the process how the cut `step` ended: it is complete, or never will be.
  virtual void end_cut(std::size_t process, std::uint64_t step, bool complete) = 0;
  // Asks the process to stop; on_exited follows if it does. `run_ends`: all other processes are stopped now, too.
  virtual void stop(std::size_t process, const std::string& reason, bool run_ends) = 0;
  virtual void kill(std::size_t process) = 0;  // on_exited follows soon
  // on_measured follows for each of these processes, once for each part of its answer.
  virtual void measure(std::span<const std::size_t> processes, Inquiry what) = 0;
  // Likewise, unless the order ends the recording. A process that starts later records from its start on.
  virtual void record_spans(std::span<const std::size_t> processes, const SpanOrder& order) = 0;
  // Ends everything by force, because a kill had no effect. on_exited for each process, or on_lost, follows.
  virtual void abandon(const std::string& why) = 0;
};

}  // namespace launch
}  // namespace lp
