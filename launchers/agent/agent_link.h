#pragma once
// The launcher's end of the agent of one host: the control connection, and the process that leads there. That is the
// agent itself on this host, and ssh for another one, whose standard input and output then are the connection. An agent
// that dials has no such process; that of a pod may be lost and come back.
//
// Owned and used by the loop thread of a run, except before attach(), when its maker has it.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "launchers/control/message_stream.h"
#include "launchers/os/event_loop.h"
#include "lp/base/function.h"

namespace lp::internal {

class AgentLink {
 public:
  struct Options {
    std::string host{};  // for people; empty: this one
    pid_t process = -1;  // which leads to the agent; a child of this process; -1: none
    std::unique_ptr<ControlSocket> control{};
    int errors = -1;                  // what `process` writes to standard error; -1: that goes to ours
    std::optional<Duration> lease{};  // an agent that is not heard for so long is lost; empty: it cannot be cut off
    bool dials = false;               // it is not there yet: connect() follows, again and again
  };
  struct Events {
    Function<void(std::span<const std::uint8_t> message)> hear{};
    Function<void(const std::string& why)> lost{};  // nothing runs there any more, or soon; the link is closed
  };

  // Owns what `options` names.
  explicit AgentLink(Options options);
  // Ends the agent, with everything that it has started, and waits for that.
  ~AgentLink();
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  void attach(Loop& loop, Events events);
  // The agent has dialed. After attach().
  void connect(std::unique_ptr<ControlSocket> control);

  // Whether it leads to another host, which can be lost while this one goes on.
  bool remote() const { return options_.lease.has_value(); }
  bool open() const { return control_ != nullptr; }
  bool dials() const { return options_.dials; }
  // Dropped when the link is not open.
  void send(std::span<const std::uint8_t> message);
  void send_all(Function<std::vector<std::uint8_t>()> next);  // as ControlSocket's
  // Ends the process that leads to the agent; here that is the agent, and all nodes end with it.
  void kill();
  // Closes the connection, which makes the agent end everything; the destructor waits for that.
  void close();

  // When advance() has something to do.
  Time next() const;
  void advance(Time now);

 private:
  void watch();
  void hear();
  void hear_errors();
  void lose(const std::string& why);

  Options options_;
  Loop* loop_ = nullptr;
  Events events_;
  std::unique_ptr<ControlSocket> control_;
  std::string said_;  // the end of what came on `errors`
  Time heard_{};
  Time next_beat_ = kNever;
};

// An agent for this host. `mark` is that of its processes (run_mark). Throws Error when it cannot be started.
std::unique_ptr<AgentLink> start_agent_here(const std::string& mark);

}  // namespace lp::internal
