#pragma once
// A program that a test starts as a person would, with its output in pipes. Owned by the test; one thread.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "launchers/os/exit_status.h"
#include "lp/base/scheduler.h"

extern char** environ;  // NOLINT: the C library's

namespace lp::test {

class Subprocess {
 public:
  // `program` with these arguments; this test binary, if none is named.
  explicit Subprocess(std::vector<std::string> arguments, const std::string& program = "/proc/self/exe") {
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::array<int, 2> out{}, err{};
    if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) ADD_FAILURE() << "pipe";
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, err[1], STDERR_FILENO);
    EXPECT_EQ(posix_spawn(&pid_, argv[0], &files, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&files);
    close(out[1]);
    close(err[1]);
    fds_ = {out[0], err[0]};
    for (const std::size_t i : {0UL, 1UL}) poller_.add(fds_[i], i);
  }
  ~Subprocess() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    for (const std::size_t i : {0UL, 1UL}) close_pipe(i);
  }
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  int pid() const { return pid_; }
  void kill(int signal) const {
    if (pid_ > 0) ::kill(pid_, signal);  // -1 would be all processes
  }
  void close_output() { close_pipe(0); }

  // Reads until standard error has `text`, after its first `from` characters. Returns false when it ends without it, or
  // nothing arrives for long.
  bool read_until(const std::string& text, std::size_t from = 0) {
    while (texts_[1].find(text, from) == std::string::npos) {
      if (!read_some()) return false;
    }
    return true;
  }

  // Reads to the end of both pipes and reaps the process. `silence` is the longest time without output.
  ExitStatus wait(Duration silence = std::chrono::seconds(30)) {
    while (read_some(silence)) {
    }
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
    return {.code = WEXITSTATUS(status)};
  }

  const std::string& out() const { return texts_[0]; }
  const std::string& err() const { return texts_[1]; }
  std::string last_line() const {
    const std::string& text = texts_[0];
    const std::size_t end = text.find_last_not_of('\n');
    return end == std::string::npos ? "" : text.substr(text.rfind('\n', end) + 1, end - text.rfind('\n', end));
  }

 private:
  void close_pipe(std::size_t i) {
    if (fds_[i] < 0) return;
    poller_.remove(fds_[i]);
    close(std::exchange(fds_[i], -1));
  }
  bool read_some(Duration silence = std::chrono::seconds(30)) {
    if (fds_[0] < 0 && fds_[1] < 0) return false;
    std::array<Poller::Ready, 2> ready;
    const std::size_t count = poller_.wait(ready, after(silence));
    if (count == 0) ADD_FAILURE() << "nothing more comes; so far: " << texts_[0] << texts_[1];
    for (std::size_t i = 0; i < count; ++i) {
      std::array<char, 65536> bytes;
      const ssize_t got = read(fds_[ready[i].tag], bytes.data(), bytes.size());
      if (got <= 0) {
        close_pipe(ready[i].tag);
      } else {
        texts_[ready[i].tag].append(bytes.data(), static_cast<std::size_t>(got));
      }
    }
    return count > 0;
  }

  pid_t pid_ = -1;
  std::array<int, 2> fds_{-1, -1};
  std::array<std::string, 2> texts_;
  Poller poller_;
};

}  // namespace lp::test
