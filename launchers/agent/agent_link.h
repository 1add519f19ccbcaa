#pragma once
// The launcher's end of the connection to the agent of one host, and the process that leads there. On this host that
// process is the agent itself. For another host it is ssh, whose standard input and output are the connection. An agent
// that dials has no such process. The agent of a pod may be lost and come back.
//
// The loop thread of a run owns and uses it. Before attach(), its maker does.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launchers/control/message_stream.h"
#include "launchers/os/event_loop.h"
#include "lp/base/function.h"

namespace lp::launch {

class AgentLink {
 public:
  struct Options {
    std::string host{};  // the host's name in messages; empty: this host
    pid_t process = -1;  // the process that leads to the agent, a child of this process; -1: none
    std::unique_ptr<MessageStream> control{};
    int errors = -1;                  // the standard error of `process`; -1: it shares ours
    std::optional<Duration> lease{};  // an agent that is silent for so long is lost; empty: the connection cannot break
    bool dials = false;               // the agent has not dialed yet: connect() follows, perhaps several times
  };
  struct Events {
    Function<void(std::span<const std::uint8_t> message)> on_message{};
    Function<void(const std::string& why)> lost{};  // no node runs there any more, or will soon; the link is closed
  };

  // Takes ownership of the process and the descriptors in `options`.
  explicit AgentLink(Options options);
  // Ends the agent with everything that it has started, and waits for its end.
  ~AgentLink();
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  void attach(EventLoop& loop, Events events);
  // Attaches the connection of an agent that has dialed. Call it after attach().
  void connect(std::unique_ptr<MessageStream> control);

  // Returns true when it leads to another host, which can be lost while this one continues.
  bool remote() const { return options_.lease.has_value(); }
  bool open() const { return control_ != nullptr; }
  bool dials() const { return options_.dials; }
  // Drops the message when the link is not open.
  void send(std::span<const std::uint8_t> message);
  void send_all(Function<std::vector<std::uint8_t>()> next);  // as MessageStream::send_all
  // Ends the process that leads to the agent. On this host that is the agent, and all nodes end with it.
  void kill();
  // Closes the connection, which makes the agent end everything. The destructor waits for that.
  void close();

  // Returns when advance() is due.
  Time next() const;
  void advance(Time now);

 private:
  void watch();
  void receive();
  void read_errors();
  void lose(const std::string& why);

  Options options_;
  EventLoop* loop_ = nullptr;
  Events events_;
  std::unique_ptr<MessageStream> control_;
  std::string error_text_;  // the end of the text that came on `errors`
  Time received_{};
  Time next_beat_ = kNever;
};

// Starts an agent on this host. `mark` marks its processes (run_mark). Throws Error when it cannot be started.
std::unique_ptr<AgentLink> start_agent_here(const std::string& mark);

}  // namespace lp::launch
