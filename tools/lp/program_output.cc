#include "tools/lp/program_output.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "lp/base/descriptor.h"

extern char** environ;  // NOLINT: the C library's

namespace lp::tool {
namespace {
constexpr int kLate = 124;
}

std::optional<ProgramOutput> output_of(std::vector<std::string> command, Duration patience, bool errors) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, in.number(), STDOUT_FILENO);
  if (errors) posix_spawn_file_actions_adddup2(&files, in.number(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // so that a kill reaches all that it starts
  pid_t child = -1;
  const int error = posix_spawnp(&child, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return std::nullopt;
  in = Descriptor();
  ProgramOutput result;
  const Time until = after(patience);
  Poller poller;
  poller.add(out.number(), 0);
  for (;;) {
    std::array<Poller::Ready, 1> ready;
    if (poller.wait(ready, until) == 0 && passed(until)) {
      result.code = kLate;
      kill(-child, SIGKILL);
      break;
    }
    std::array<char, 65536> bytes;
    const ssize_t got = read(out.number(), bytes.data(), bytes.size());
    if (got <= 0) break;
    result.text.append(bytes.data(), static_cast<std::size_t>(got));
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (result.code == 0) result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace lp::tool
