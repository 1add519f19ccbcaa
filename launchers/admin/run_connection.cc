#include "launchers/admin/run_connection.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <string>
#include <system_error>

#include "launchers/admin/admin_server.h"

namespace lp::launch {

Descriptor connect_to_run(const std::filesystem::path& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) return Descriptor();
  Descriptor opened;
  const std::string name = live_address(directory, opened);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // The kernel connects at once, or not at all.
  const int failed = connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return failed == 0 ? std::move(socket) : Descriptor();
}

}  // namespace lp::launch
