#pragma once
// A node process as its agent sees it. The agent owns it and uses it in its one thread.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "launchers/agent/stack_taker.h"
#include "launchers/control/message_stream.h"

namespace lp::control {
struct Message;
struct Spawn;
}  // namespace lp::control

namespace lp::launch {

struct Child {
  Child() = default;
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  std::uint64_t serial = 0;  // the agent's number for it
  std::size_t process = 0;
  std::uint32_t incarnation = 0;
  std::string name{};
  std::string mark{};        // a variable in its environment and in that of all that it starts
  pid_t pid = -1;            // -1: it could not be started
  std::uint64_t memory = 0;  // the limit in bytes; 0: no limit
  std::vector<std::string> gpus{};
  std::uint64_t gpu_memory = 0;            // the limit in bytes on a GPU that it shares; 0: no limit
  std::vector<std::string> broken_gpus{};  // those of its GPUs that have failed
  std::string gpu_fault{};                 // how they have
  bool killed = false;                     // the launcher has asked to kill it
  std::string fault{};                     // why it could not be started, or why the agent ended it
  std::unique_ptr<MessageStream> control{};
  int out = -1;  // the pipes into which it writes; -1: it has a terminal, or it has closed them
  int err = -1;
  std::unique_ptr<StackTaker> stacks{};  // null: none are taken
};

// Starts the process that the launcher asks for, unless something prevents it.
std::unique_ptr<Child> start_child(const control::Message& message, const control::Spawn& spawn,
                                   const std::string& obstacle);

}  // namespace lp::launch
