#pragma once
// Starts the agent of one other host. A command leads there. Its output and input are handled whenever some of it is
// available.
//
// One thread owns and uses it.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "launchers/control/message_stream.h"
#include "launchers/os/executable.h"
#include "launchers/remote/remote_agent.h"

namespace lp::launch {

class AgentStart {
 public:
  // Starts the command. The arguments stay the caller's.
  AgentStart(const HostSpec& host, const CommandThere& command, const Executable& binary, const RemoteOptions& options);
  // Ends the command, unless finish() has passed it on.
  ~AgentStart();
  AgentStart(const AgentStart&) = delete;
  AgentStart& operator=(const AgentStart&) = delete;

  bool pending() const { return problem_.empty() && state_ != State::there; }
  bool wants_to_write() const { return state_ == State::sending; }  // and does not read then
  int fd() const { return control_->fd(); }

  // Does the work that is possible now.
  void advance();
  void give_up(const std::string& why);
  // "h2: Permission denied (publickey)."; empty: none.
  std::string problem();
  // The agent, which is neither pending nor has a problem. Call it once, as the last call.
  RemoteAgent finish();

 private:
  enum class State : std::uint8_t { greeting, sending, hello, there };

  void read_greeting();
  void read_hello();
  void take_hello(std::span<const std::uint8_t> bytes);
  void read_errors();

  const HostSpec& host_;
  const Executable& binary_;
  const RemoteOptions& options_;
  State state_ = State::greeting;
  pid_t process_ = -1;
  std::unique_ptr<MessageStream> control_;
  int errors_ = -1;
  std::size_t greeting_ = 0;  // bytes that have come
  std::string line_;
  std::size_t sent_ = 0;  // bytes of the binary that were sent
  std::string error_text_;
  std::string problem_;
  HostCapacity capacity_;
};

}  // namespace lp::launch
