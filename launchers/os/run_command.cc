#include "launchers/os/run_command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sstream>

#include "launchers/os/pidfd.h"
#include "launchers/os/spawn.h"
#include "lp/base/descriptor.h"
#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

// One stream of a command, read without waiting.
class Stream {
 public:
  // Throws Error when this process has no descriptor left.
  explicit Stream(std::string& to) : to_(to) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw Error(ErrorKind::failed, std::string("no pipe could be made: ") + std::strerror(errno));
    ours_ = Descriptor(ends[0]);
    theirs_ = Descriptor(ends[1]);
    fcntl(ours_.number(), F_SETFL, O_NONBLOCK);
  }
  int fd() const { return ours_.number(); }
  int theirs() const { return theirs_.number(); }
  void close_theirs() { theirs_ = Descriptor(); }

  // Takes the bytes that are there. Returns false at the end of the stream.
  bool read() {
    std::array<char, 65536> bytes;
    ssize_t got = 0;
    while ((got = ::read(fd(), bytes.data(), bytes.size())) > 0)
      to_.append(bytes.data(), static_cast<std::size_t>(got));
    return got != 0;
  }

 private:
  std::string& to_;
  Descriptor ours_, theirs_;
};

// Reads both streams until the process has ended, which `end` reports. A process that it has left behind may hold the
// streams open for longer. Returns false if the time was over before.
bool read_until_end(Stream& text, Stream& errors, const Descriptor& end, Time until) {
  enum : std::uint64_t { kText, kErrors, kEnd };
  Poller poller;
  poller.add(text.fd(), kText);
  poller.add(errors.fd(), kErrors);
  poller.add(end.number(), kEnd);
  std::array<Poller::Ready, 3> ready;
  for (bool ended = false; !ended;) {
    const std::size_t count = poller.wait(ready, until);
    if (count == 0 && passed(until)) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (ready[i].tag == kEnd) ended = true;
      if (ready[i].tag == kText && !text.read()) poller.remove(text.fd());
      if (ready[i].tag == kErrors && !errors.read()) poller.remove(errors.fd());
    }
  }
  text.read();
  errors.read();
  return true;
}

// Throws Error when the command cannot be started or observed.
Output try_to_run(const std::vector<std::string>& command, Duration limit) {
  Output output;
  Stream text(output.text), errors(output.errors);
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const pid_t process =
      spawn_command(command, {.input = nothing.number(), .output = text.theirs(), .errors = errors.theirs()});
  text.close_theirs();
  errors.close_theirs();
  const Descriptor end(pidfd_open(process, 0));
  const int error = errno;
  const bool in_time = end && read_until_end(text, errors, end, after(limit));
  if (!in_time) kill(-process, SIGKILL);
  int status = 0;
  waitpid(process, &status, 0);
  if (!end) throw Error(ErrorKind::failed, command.front() + " was not started: pidfd_open: " + std::strerror(error));
  output.code = !in_time ? Output::kTimedOut : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (!in_time) output.errors = "it did not end in " + duration_text(limit);
  return output;
}

}  // namespace

Output run(const std::vector<std::string>& command, Duration limit) {
  try {
    return try_to_run(command, limit);
  } catch (const Error& error) {
    return {.code = Output::kNotStarted, .text = {}, .errors = error.text()};
  }
}

Output run_or_throw(const std::vector<std::string>& command, Duration limit) {
  Output output = run(command, limit);
  if (output.code == 0) return output;
  std::string why = output.errors + output.text;
  while (!why.empty() && why.back() == '\n') why.pop_back();
  if (why.empty()) why = "it failed with exit code " + std::to_string(output.code) + ", and printed nothing";
  throw Error(ErrorKind::failed, command.front() + ": " + why);
}

std::vector<std::string> split_command(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace lp::launch
