#pragma once
// A node process as the agent has it, who owns and uses it in its one thread.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "launchers/control/message_stream.h"

namespace lp::control {
struct Message;
struct Spawn;
}  // namespace lp::control

namespace lp::internal {

struct Child {
  Child() = default;
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  std::uint64_t serial = 0;  // the agent's number for it
  std::size_t unit = 0;
  std::uint32_t incarnation = 0;
  std::string name{};
  std::string mark{};        // in its environment, and in that of all that it starts
  pid_t pid = -1;            // -1: it could not be started
  std::uint64_t memory = 0;  // bytes that it may use; 0: no limit
  bool killed = false;       // because the launcher said so
  std::string fault{};       // why it could not be started, or the agent ended it
  std::unique_ptr<ControlSocket> control{};
  int out = -1;  // the pipes that it writes into; -1: it has a terminal, or it has closed them
  int err = -1;
};

// Starts the process that the launcher asks for, unless there is a reason not to.
std::unique_ptr<Child> start_child(const control::Message& message, const control::Spawn& spawn,
                                   const std::string& obstacle);

}  // namespace lp::internal
