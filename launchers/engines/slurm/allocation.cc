#include "launchers/engines/slurm/allocation.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "launchers/control/message_stream.h"
#include "launchers/engines/slurm/job.h"
#include "launchers/os/spawn.h"
#include "lp/base/error.h"

namespace lp::launch {
namespace {

// Prints the variables that Slurm has set in the environment, and stays as long as this process. salloc gives the
// allocation back then; if salloc was killed, this script does.
constexpr const char* kSayAndStay =
    R"(env -0; printf '\0'; cat >/dev/null; kill -0 $PPID 2>/dev/null || exec scancel "$SLURM_JOB_ID")";
// Runs salloc, and learns when this process was killed. A request that still waits must then be withdrawn. A granted
// allocation goes back by itself, and a salloc that gets SIGTERM at that moment may never end (22.05).
constexpr const char* kGuard =
    R"(exec 3<&0
"$@" <&3 3<&- & salloc=$!
exec 3<&- </dev/null >/dev/null
trap 'sleep 3; kill $salloc; sleep 3; kill -9 $salloc; exit 1' TERM
wait $salloc)";
constexpr std::string_view kOfSlurm = "SLURM_";
constexpr auto kReleaseTimeout = std::chrono::seconds(10);  // for salloc to give the allocation back

}  // namespace

SlurmAllocation::SlurmAllocation(std::span<const SlurmComponent> components, const std::vector<std::string>& options) {
  std::vector<std::string> command{"setpriv", "--pdeathsig", "TERM",   "/bin/sh",  "-c",
                                   kGuard,    "guard",       "salloc", "--no-kill"};
  for (std::size_t i = 0; i < components.size(); ++i) {
    if (i > 0) command.insert(command.end(), {":", "--no-kill"});
    command.insert(command.end(), components[i].needs.begin(), components[i].needs.end());
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), components[i].options.begin(), components[i].options.end());
  }
  command.insert(command.end(), {"/bin/sh", "-c", kSayAndStay});
  {
    const SocketPair ends = make_socket_pair();
    connection_ = Descriptor(ends.ours);
    const Descriptor theirs(ends.theirs);
    guard_ = spawn_command(command, {.input = theirs.number(), .output = theirs.number()});
  }
  try {
    take_environment();
  } catch (const Error&) {
    end_child(guard_, kReleaseTimeout);
    throw;
  }
}

SlurmAllocation::~SlurmAllocation() {
  connection_ = Descriptor();
  end_child(guard_, kReleaseTimeout);
}

// Each variable ends with a zero byte; an empty text follows the last one.
void SlurmAllocation::take_environment() {
  std::string variable;
  std::array<char, 4096> bytes;
  for (;;) {
    const ssize_t got = recv(connection_.number(), bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw Error(ErrorKind::failed, "Slurm gave no allocation for the groups with `launcher: slurm`");
    for (const char one : std::string_view(bytes.data(), static_cast<std::size_t>(got))) {
      if (one != '\0') {
        variable += one;
        continue;
      }
      if (variable.empty()) return;
      const std::size_t end = variable.find('=');
      if (variable.starts_with(kOfSlurm) && end != std::string::npos) {
        setenv(variable.substr(0, end).c_str(), variable.c_str() + end + 1, 1);
      }
      variable.clear();
    }
  }
}

}  // namespace lp::launch
