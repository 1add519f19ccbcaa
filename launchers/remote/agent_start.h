#pragma once
// One other host on its way to having an agent: a command leads there, and what it says and takes is dealt with
// whenever some of it is there.
//
// Owned and used by one thread.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "launchers/control/message_stream.h"
#include "launchers/os/executable.h"
#include "launchers/remote/ssh_agents.h"

namespace lp::internal {

class AgentStart {
 public:
  // Starts the command; what it is given stays the caller's.
  AgentStart(const HostSpec& host, const CommandThere& command, const OwnBinary& binary, const RemoteOptions& options);
  // Ends the command, unless finish() has given it away.
  ~AgentStart();
  AgentStart(const AgentStart&) = delete;
  AgentStart& operator=(const AgentStart&) = delete;

  bool pending() const { return problem_.empty() && state_ != State::there; }
  bool wants_to_write() const { return state_ == State::sending; }  // and not to read
  int fd() const { return control_->fd(); }

  // Does what can be done now.
  void advance();
  void give_up(const std::string& why);
  // "h2: Permission denied (publickey)."; empty: none.
  std::string problem();
  // The agent, which is there: neither pending nor with a problem. To be called once, last.
  RemoteAgent finish();

 private:
  enum class State : std::uint8_t { greeting, sending, hello, there };

  void read_greeting();
  void read_hello();
  void take_hello(std::span<const std::uint8_t> bytes);
  void read_errors();

  const HostSpec& host_;
  const OwnBinary& binary_;
  const RemoteOptions& options_;
  State state_ = State::greeting;
  pid_t process_ = -1;
  std::unique_ptr<ControlSocket> control_;
  int errors_ = -1;
  std::size_t greeting_ = 0;  // bytes that came
  std::string line_;
  std::size_t sent_ = 0;  // of the binary
  std::string said_;
  std::string problem_;
  HostCapacity capacity_;
};

}  // namespace lp::internal
