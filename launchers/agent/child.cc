#include "launchers/agent/child.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"
#include "launchers/os/spawn.h"
#include "lp/base/error.h"

namespace lp::launch {
namespace {

using Texts = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

struct Pipe {
  int ours = -1;
  int theirs = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(ErrorKind::failed, std::string("no pipe could be made: ") + std::strerror(errno) +
                                       (errno == EMFILE ? "; the limit is `ulimit -n`: raise it" : ""));
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {ends[0], ends[1]};
}

void close_if_open(int fd) {
  if (fd >= 0) close(fd);
}

void debug(NodeProcess& process, const Texts& command) {
  std::vector<std::string> arguments;
  for (const auto* word : command) arguments.push_back(word->str());
  process.program = arguments.front();
  std::error_code ignored;
  arguments.push_back(std::filesystem::read_symlink("/proc/self/exe", ignored));  // gdb needs a file
  arguments.insert(arguments.end(), process.arguments.begin() + 1, process.arguments.end());
  process.arguments = std::move(arguments);
  process.terminal = true;
}

NodeProcess process_of(const Child& child, const control::Spawn& spawn) {
  NodeProcess process;
  process.arguments = {program_invocation_name, "--lp-node=" + child.name};
  if (spawn.environment() != nullptr) {
    for (const auto* entry : *spawn.environment()) process.environment.push_back(entry->str());
  }
  if (spawn.directory() != nullptr) process.directory = spawn.directory()->str();
  if (spawn.cores() != nullptr) process.cores.assign(spawn.cores()->begin(), spawn.cores()->end());
  if (spawn.debugger() != nullptr && spawn.debugger()->size() > 0) debug(process, *spawn.debugger());
  return process;
}

}  // namespace

Child::~Child() {
  close_if_open(out);
  close_if_open(err);
}

std::unique_ptr<Child> start_child(const control::Message& message, const control::Spawn& spawn,
                                   const std::string& obstacle) {
  auto child = std::make_unique<Child>();
  child->process = message.process();
  child->incarnation = message.incarnation();
  child->name = spawn.name()->str();
  child->memory = spawn.memory();
  child->gpu_memory = spawn.gpu_memory();
  if (spawn.gpus() != nullptr) {
    for (const auto* one : *spawn.gpus()) child->gpus.push_back(one->str());
  }
  NodeProcess process = process_of(*child, spawn);
  for (const std::string& entry : process.environment) {
    if (entry.starts_with("LP_NODE=")) child->mark = entry;
  }
  try {
    if (!obstacle.empty()) throw Error(ErrorKind::failed, obstacle);
    const SocketPair ends = make_socket_pair();
    process.control = ends.theirs;
    child->control = std::make_unique<MessageStream>(ends.ours, kSmallMessages);
    if (!process.terminal) {
      for (auto& [ours, theirs] : {std::pair(&child->out, &process.out), std::pair(&child->err, &process.err)}) {
        const Pipe pipe = make_pipe();
        *ours = pipe.ours;
        *theirs = pipe.theirs;
      }
    }
    child->pid = fork_node(process);
  } catch (const Error& error) {
    child->fault = "could not be started: " + error.text();
  }
  for (const int fd : {process.control, process.out, process.err}) close_if_open(fd);
  return child;
}

}  // namespace lp::launch
