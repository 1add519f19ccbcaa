#pragma once
// A run's admin socket: a Unix socket in the run's directory, over which this user's processes exchange lines with
// the run. A client of another user, one that sends too much, and one that reads too slowly get an error and are
// dropped. No client can make the run wait, except for the time that finish() gives.
//
// The loop thread of a run owns and uses it. Any thread may call the constructor.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "launchers/os/acceptor.h"
#include "launchers/os/event_loop.h"
#include "lp/base/descriptor.h"
#include "lp/base/function.h"
#include "lp/base/scheduler.h"

namespace lp::launch {

class AdminServer {
 public:
  static constexpr std::size_t kClients = 64;
  static constexpr std::size_t kLongestRequest = std::size_t{1} << 16;
  static constexpr std::size_t kOutbox = std::size_t{16} << 20;  // the limit for a client
  static constexpr const char* kName = "socket";                 // the file's name in the directory

  using Client = std::uint64_t;
  struct Handlers {
    Function<void(Client, std::string_view line)> on_line{};
    Function<void(Client)> gone{};
  };

  // Throws Error when there can be no socket, as on some network file systems.
  AdminServer(const std::filesystem::path& directory, EventLoop& loop, Handlers handlers);
  // Drops all clients and removes the file.
  ~AdminServer();
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  // Writes as much as the client takes now and keeps the rest. Does nothing when the client is gone.
  void send(Client client, std::string_view line);
  // Sends the reason and drops the client.
  void refuse(Client client, const std::string& why);
  // Bytes that the client has not taken yet.
  std::size_t pending(Client client) const;

  // Accepts no more clients, and gives the present ones until `until` to read the rest.
  void finish(Time until);

 private:
  struct Connection {
    Descriptor socket{};
    std::string inbox{};
    Outbox outbox{};
    bool resumes = false;  // serve() is posted for the next line of the inbox
  };

  void accept(Descriptor socket);
  void handle(Client client, EventLoop::Ready ready);
  void serve(Client client);
  void flush(Client client);
  void drop(Client client);

  const std::filesystem::path path_;
  EventLoop& loop_;
  Handlers handlers_;
  std::optional<Acceptor> acceptor_;  // none: no more clients are accepted
  Client last_ = 0;
  std::map<Client, Connection> clients_;
};

// The address of a socket in `directory`, however long its path is. The address goes through `opened`, which must stay
// open meanwhile. Throws Error when there is no such directory.
std::string live_address(const std::filesystem::path& directory, Descriptor& opened);

}  // namespace lp::launch
