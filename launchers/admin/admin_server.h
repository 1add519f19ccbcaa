#pragma once
// A run's control socket: a Unix socket in the run's directory, to which this user's processes send lines and get
// lines. Who else connects, sends too much or reads too slowly is told so and dropped; nobody can make the run wait,
// but for the time that finish() gives.
//
// Owned and used by the loop thread of a run, except for the constructor, which any thread may call.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "launchers/os/event_loop.h"
#include "lp/base/descriptor.h"
#include "lp/base/function.h"
#include "lp/base/scheduler.h"

namespace lp::internal {

class LiveServer {
 public:
  static constexpr std::size_t kClients = 64;
  static constexpr std::size_t kLongestRequest = std::size_t{1} << 16;
  static constexpr std::size_t kOutbox = std::size_t{16} << 20;  // of a client
  static constexpr const char* kName = "socket";                 // of the file in the directory

  using Client = std::uint64_t;
  struct Handlers {
    Function<void(Client, std::string_view line)> hear{};
    Function<void(Client)> gone{};
  };

  // Throws Error when there can be no socket, as on some network file systems.
  LiveServer(const std::filesystem::path& directory, Loop& loop, Handlers handlers);
  // Drops everybody, and removes the file.
  ~LiveServer();
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;

  // Writes what the client takes now, and keeps the rest. Nothing happens when it is gone.
  void send(Client client, std::string_view line);
  // Says why, and drops the client.
  void refuse(Client client, const std::string& why);
  // Bytes that the client has not taken yet.
  std::size_t pending(Client client) const;

  // Takes no more clients, and gives those that are there until `until` to read the rest.
  void finish(Time until);

 private:
  struct Connection {
    Descriptor socket{};
    std::string inbox{};
    std::string outbox{};
    bool resumes = false;  // soon, with the next line of the inbox
  };

  void accept_all();
  void handle(Client client, Loop::Ready ready);
  void serve(Client client);
  void flush(Client client);
  void drop(Client client);

  const std::filesystem::path path_;
  Loop& loop_;
  Handlers handlers_;
  Descriptor listener_;
  Descriptor spare_;  // given up for a moment when no descriptor is left, to refuse who waits
  Client last_ = 0;
  std::map<Client, Connection> clients_;
};

// The address of a socket in `directory`, however long its path is: through `opened`, which must stay open meanwhile.
// Throws Error when there is no such directory.
std::string live_address(const std::filesystem::path& directory, Descriptor& opened);

}  // namespace lp::internal
