#pragma once
// Other hosts that were lost, and are dialed again until they are there.
//
// Owned and used by the loop thread of a run, except for the constructor, which any thread may call.

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "launchers/os/deadline_queue.h"
#include "launchers/os/event_loop.h"
#include "launchers/os/executable.h"
#include "launchers/remote/agent_start.h"
#include "launchers/remote/ssh_agents.h"
#include "lp/base/function.h"

namespace lp::internal {

class Redial {
 public:
  // As for start_agents_there(); each attempt has the patience that all of these have.
  Redial(std::vector<HostSpec> hosts, CommandThere command, RemoteOptions options, OwnBinary binary);
  ~Redial();
  Redial(const Redial&) = delete;
  Redial& operator=(const Redial&) = delete;

  // `there`: the host, by its number, has an agent again.
  void attach(Loop& loop, Function<void(std::size_t host, RemoteAgent agent)> there);
  // Dials the host after a lease, when an agent that was only cut off has ended, and then after each lease in which it
  // was not reached.
  void dial(std::size_t host);

  // When advance() has something to do.
  Time next() const { return alarms_.next(); }
  void advance(Time now);

 private:
  void start(std::size_t host);
  void look_at(std::size_t host);
  std::unique_ptr<AgentStart> take(std::size_t host);

  const std::vector<HostSpec> hosts_;
  const CommandThere command_;
  const RemoteOptions options_;
  const OwnBinary binary_;
  Loop* loop_ = nullptr;
  Function<void(std::size_t, RemoteAgent)> there_;
  std::map<std::size_t, std::unique_ptr<AgentStart>> starts_;  // by host: what has begun
  Alarms<std::size_t> alarms_;                                 // hosts: to begin, or to give up what has begun
};

}  // namespace lp::internal
