#include "launchers/admin/relay.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>

#include "launchers/admin/admin_client.h"
#include "launchers/control/process_roles.h"
#include "launchers/os/command.h"
#include "launchers/os/shell_quote.h"
#include "launchers/record/run_directory.h"
#include "lp/base/scheduler.h"

namespace lp::internal {
namespace {

enum Side : std::uint64_t { kHere, kSocket };

// Copies the bytes that are available from one side to the other. Returns false at the end.
bool pass(int from, int to) {
  std::array<char, 65536> bytes;
  const ssize_t got = read(from, bytes.data(), bytes.size());
  return got > 0 && write_all(to, std::string_view(bytes.data(), static_cast<std::size_t>(got)));
}

}  // namespace

int run_relay(const std::filesystem::path& directory) {
  const Descriptor socket = connect_to_run(directory);
  if (!socket) {
    std::fprintf(stderr, "no run can be reached in %s\n", directory.c_str());
    return 1;
  }
  if (!write_all(STDOUT_FILENO, std::string(kRelayReady) + "\n")) return 1;
  Poller poller;
  poller.add(STDIN_FILENO, kHere);
  poller.add(socket.number(), kSocket);
  for (bool open = true; open;) {
    std::array<Poller::Ready, 2> ready;
    const std::size_t count = poller.wait(ready, kNever);
    for (std::size_t i = 0; i < count && open; ++i) {
      open = ready[i].tag == kHere ? pass(STDIN_FILENO, socket.number()) : pass(socket.number(), STDOUT_FILENO);
    }
  }
  return 0;
}

std::vector<std::string> relay_command(const RunRecord& record, const std::string& host, bool heterogeneous) {
  const std::string flag = std::string(kRelayFlag) + record.directory;
  std::vector<std::string> command;
  if (!record.kubectl.empty()) {
    command = split_command(record.kubectl);
    // The program is the first process of its container, wherever its file is in the image.
    command.insert(command.end(), {"exec", "--stdin", host, "--", "/proc/1/exe", flag});
  } else if (!record.job.empty()) {
    command = {"srun",    "--jobid=" + record.job, "--overlap",    "--nodes=1", "--ntasks=1",
               "--mem=0", "--nodelist=" + host,    "--unbuffered", "--quiet",   "--mpi=none"};
    if (heterogeneous) command.emplace_back("--het-group=0");
    command.insert(command.end(), {record.binary, flag});
  } else {
    command = {"ssh", "-T", "-oBatchMode=yes", "-oConnectTimeout=15", "--", host};
    command.push_back(shell_quote(record.binary) + " " + shell_quote(flag));
  }
  return command;
}

}  // namespace lp::internal
