#include "launchers/agent/stack_taker.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "launchers/os/spawn.h"
#include "launchers/os/stacks.h"
#include "lp/base/error.h"

namespace lp::launch {
namespace {
constexpr std::size_t kMostPrinted = std::size_t{16} << 20;
}  // namespace

StackTaker::StackTaker(pid_t process) : threads_(thread_states(process)) {
  std::array<int, 2> ends{};
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing || pipe2(ends.data(), O_CLOEXEC) != 0) return;
  Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  fcntl(ours.number(), F_SETFL, O_NONBLOCK);
  try {
    spawn_command(stacks_command(process, threads_),
                  {.input = nothing.number(), .output = theirs.number(), .errors = theirs.number()});
    pipe_ = std::move(ours);
  } catch (const Error& error) {
    printed_ = error.text();
  }
}

bool StackTaker::read() {
  std::array<char, 65536> bytes;
  while (printed_.size() < kMostPrinted) {
    const ssize_t got = ::read(pipe_.number(), bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) break;
    printed_.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return false;
}

Stacks StackTaker::result() const {
  try {
    return {.text = stacks_text(threads_, printed_)};
  } catch (const Error& error) {
    return {.text = error.text(), .problem = true};
  }
}

}  // namespace lp::launch
