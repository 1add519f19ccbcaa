#pragma once
// Dials lost hosts again until they answer.
//
// The loop thread of a run owns and uses it. Any thread may call the constructor.

#include <cstddef>
#include <map>
#include <memory>

#include "launchers/os/deadline_queue.h"
#include "launchers/os/event_loop.h"
#include "launchers/os/executable.h"
#include "launchers/remote/agent_start.h"
#include "launchers/remote/remote_agents.h"
#include "lp/base/function.h"

namespace lp::launch {

class HostReconnector {
 public:
  struct Host {
    HostSpec spec{};
    CommandThere command{};  // leads to it
  };

  // The hosts that come back, by their numbers in the run. The other arguments are those of start_agents_there(), but
  // each attempt may take as long as start_agents_there() gives all attempts together.
  HostReconnector(std::map<std::size_t, Host> hosts, RemoteOptions options, Executable binary);
  ~HostReconnector();
  HostReconnector(const HostReconnector&) = delete;
  HostReconnector& operator=(const HostReconnector&) = delete;

  // Calls `there` when the host of this number has an agent again.
  void attach(EventLoop& loop, Function<void(std::size_t host, RemoteAgent agent)> there);
  // Dials the host after a lease, when an agent that was only cut off has ended. It dials again after each lease in
  // which it did not reach the host.
  void dial(std::size_t host);

  // When advance() is due.
  Time next() const { return alarms_.next(); }
  void advance(Time now);

 private:
  void start(std::size_t host);
  void check(std::size_t host);
  std::unique_ptr<AgentStart> take(std::size_t host);

  const std::map<std::size_t, Host> hosts_;
  const RemoteOptions options_;
  const Executable binary_;
  EventLoop* loop_ = nullptr;
  Function<void(std::size_t, RemoteAgent)> there_;
  std::map<std::size_t, std::unique_ptr<AgentStart>> starts_;  // by host: attempts that have begun
  DeadlineQueue<std::size_t> alarms_;                          // hosts: when to begin an attempt, or to give one up
};

}  // namespace lp::launch
