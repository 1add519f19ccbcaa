#include "launchers/admin/relay.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>

#include "launchers/admin/run_connection.h"
#include "launchers/control/process_roles.h"
#include "launchers/os/shell_quote.h"
#include "launchers/record/run_directory.h"
#include "launchers/remote/ssh_command.h"
#include "lp/base/scheduler.h"

namespace lp::launch {
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
    std::fprintf(stderr, "no running program can be reached through the run directory %s\n", directory.c_str());
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

std::string relay_flag(const RunRecord& record) { return std::string(kRelayFlag) + record.directory; }

std::vector<std::string> relay_by_ssh(const RunRecord& record) {
  return ssh_command(record.ssh, record.host, shell_quote(record.binary) + " " + shell_quote(relay_flag(record)));
}

}  // namespace lp::launch
