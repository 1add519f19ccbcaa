#pragma once
// A program that a test starts on a terminal of its own, of 80 columns and 24 lines. Owned by the test; one thread.

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/scheduler.h"

namespace lp::test {

class OnTerminal {
 public:
  // `program` with these arguments; this test binary, if none is named.
  explicit OnTerminal(std::vector<std::string> arguments, const std::string& program = "/proc/self/exe") {
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    pid_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ == 0) {
      execv(argv[0], argv.data());
      _exit(127);
    }
    poller_.add(terminal_, 0);
  }
  ~OnTerminal() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(terminal_);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  int pid() const { return pid_; }
  void type(const std::string& text) const { EXPECT_EQ(write(terminal_, text.data(), text.size()), std::ssize(text)); }

  // Reads until the screen has shown `text`. Returns false when the program ends without it, or prints nothing for
  // long.
  bool read_until(const std::string& text, std::size_t from = 0) {
    while (shown_.find(text, from) == std::string::npos) {
      if (!read_some()) return false;
    }
    return true;
  }
  int wait() {
    while (read_some()) {
    }
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  const std::string& shown() const { return shown_; }

 private:
  bool read_some() {
    std::array<Poller::Ready, 1> ready;
    if (poller_.wait(ready, after(std::chrono::seconds(60))) == 0) return false;
    std::array<char, 4096> bytes;
    const ssize_t got = read(terminal_, bytes.data(), bytes.size());
    if (got > 0) shown_.append(bytes.data(), static_cast<std::size_t>(got));
    return got > 0;
  }

  pid_t pid_ = -1;
  int terminal_ = -1;
  std::string shown_;
  Poller poller_;
};

}  // namespace lp::test
