#include "launchers/os/stacks.h"

#include <map>
#include <sstream>
#include <string_view>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

constexpr std::size_t kLongest = std::size_t{900} << 10;  // bytes, for a message of 1 MiB
constexpr const char* kMostFrames = "64";

}  // namespace

// Without debuginfod, which would ask servers for the symbols of libraries.
std::vector<std::string> stacks_command(pid_t process) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(kStacksLimit).count() - 1;
  return {"timeout",
          "--kill-after=1",
          std::to_string(seconds - 1),
          "env",
          "-u",
          "DEBUGINFOD_URLS",
          "eu-stack",
          "-n",
          kMostFrames,
          "-p",
          std::to_string(process)};
}

std::string stacks_text(std::span<const ThreadState> threads, const std::string& printed) {
  constexpr std::string_view kThread = "TID ";
  if (printed.find(kThread) == std::string::npos) {
    if (printed.empty()) throw Error(ErrorKind::failed, "eu-stack printed nothing in time: try again");
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
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace lp::launch
