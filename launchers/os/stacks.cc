#include "launchers/os/stacks.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

constexpr std::size_t kLongest = std::size_t{900} << 10;  // bytes, for a message of 1 MiB
constexpr const char* kMostFrames = "64";
constexpr const char* kUnended = "eu-stack did not end in time";

}  // namespace

// Without debuginfod, which would ask servers for the symbols of libraries. eu-stack attaches to a thread by a SIGSTOP.
// If it is killed before the thread has taken that, the thread would stop later, with nobody to let it go on: SIGCONT
// removes what is pending, also for threads that are blocked in the kernel.
std::vector<std::string> stacks_command(pid_t process, std::span<const ThreadState> threads) {
  const bool stopped =
      std::any_of(threads.begin(), threads.end(), [](const ThreadState& one) { return one.state == "T"; });
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(kStacksLimit).count() - 2;
  const std::string script = "timeout --kill-after=1 " + std::to_string(seconds) +
                             " env -u DEBUGINFOD_URLS eu-stack -n " + kMostFrames +
                             " -p \"$1\"; code=$?; [ $code -eq 124 ] || [ $code -gt 127 ] || exit $code; " +
                             (stopped ? "" : "kill -CONT \"$1\"; ") + "printf '\\n%s\\n' \"$2\"; exit $code";
  return {"sh", "-c", script, "sh", std::to_string(process), kUnended};
}

std::string stacks_text(std::span<const ThreadState> threads, const std::string& printed) {
  constexpr std::string_view kThread = "TID ";
  if (printed.find(kThread) == std::string::npos) {
    if (printed.empty() || printed.find(kUnended) != std::string::npos) {
      throw Error(
          ErrorKind::failed,
          "eu-stack printed no stack in time: a thread is blocked in the kernel, or the host is busy; try again");
    }
    if (printed.starts_with("env: ") || printed.starts_with("timeout: ")) {  // they found no eu-stack
      throw Error(ErrorKind::failed, "there is no eu-stack on that host: apt install elfutils");
    }
    const bool forbidden =
        printed.find("Permission denied") != std::string::npos || printed.find("not permitted") != std::string::npos;
    throw Error(ErrorKind::failed, printed.substr(0, printed.find('\n')) +
                                       (forbidden ? "; let the run and its node belong to one user, and set "
                                                    "kernel.yama.ptrace_scope to 0 if it is not"
                                                  : ""));
  }
  std::map<std::string, std::string> names;
  for (const ThreadState& thread : threads) {
    const std::string place =
        thread.call.empty() ? "" : ", in " + thread.call + (thread.file.empty() ? "" : " of " + thread.file);
    names[std::to_string(thread.id)] = thread.name + " (" + thread.state + place + ")";
  }
  std::istringstream lines(printed);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (text.size() + line.size() > kLongest) {
      text += "The rest is left out, because it is longer than " + memory_text(kLongest) + "\n";
      break;
    }
    if (line.starts_with(kThread) && line.ends_with(':')) {
      const std::string number = line.substr(kThread.size(), line.size() - kThread.size() - 1);
      line = "thread " + number + (names.contains(number) ? " " + names[number] : "") + ":";
    } else if (line.starts_with("PID ")) {
      continue;
    } else if (line == kUnended) {
      line = "Other threads are missing: " + line + ". A thread is blocked in the kernel, or the host is busy.";
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace lp::launch
