#include "launchers/os/descriptor_limit.h"

#include <sys/resource.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>

#include "lp/base/error.h"

namespace lp::launch {
namespace {
// The descriptors that the agent needs for a process: a control connection, two pipes, and two more ends while it
// starts one.
constexpr std::size_t kOfAProcess = 5;
constexpr std::size_t kBesides = 64;  // the terminal, logs that are being written, and the runtime's own descriptors
}  // namespace

std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
  }
  return limit.rlim_cur;
}

void check_descriptors(std::size_t processes, std::uint64_t limit) {
  std::error_code ignored;
  const auto open = static_cast<std::size_t>(std::distance(
      std::filesystem::directory_iterator("/proc/self/fd", ignored), std::filesystem::directory_iterator()));
  const std::size_t need = open + processes * kOfAProcess + kBesides;
  if (need <= limit) return;
  throw Error(ErrorKind::failed, "the run needs " + std::to_string(need) + " open files for its " +
                                     std::to_string(processes) + " node processes, but `ulimit -n` allows " +
                                     std::to_string(limit) + ": raise it with `ulimit -n " + std::to_string(need) +
                                     "` (or `ulimit -Hn` as root, or LimitNOFILE= of the service), or colocate nodes");
}

}  // namespace lp::launch
