#pragma once
// The other end of a run's control socket: for the lp command, and for tests. run_api.h has what may be asked.
//
// Owned and used by one thread.

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lp/base/descriptor.h"
#include "lp/base/scheduler.h"

namespace lp::internal {

// The socket of the run in `directory`; none when nobody serves there.
Descriptor connect_to_live(const std::filesystem::path& directory);

class LiveClient {
 public:
  // Connects to the run in `directory`; open() is false when nobody serves there.
  explicit LiveClient(const std::filesystem::path& directory) : socket_(connect_to_live(directory)) {}
  // The same through a command that leads there (relay.h), which has until `until` to connect.
  LiveClient(const std::vector<std::string>& command, Time until);

  bool open() const { return static_cast<bool>(socket_); }
  // Why a command does not lead there, as far as it says.
  const std::string& trouble() const { return trouble_; }
  // Sends a line.
  void ask(std::string_view request, Time until);
  // The next line; nothing when `until` came first, or when the run has closed the connection: then open() is false.
  std::optional<std::string> next(Time until);

  // To wait for more than one thing: readable when next() may have something that has() has not.
  int fd() const { return socket_.number(); }
  bool has() const { return inbox_.find('\n') != std::string::npos; }

 private:
  // The command, which ends with the connection. What its end takes is there before it starts.
  class Command {
   public:
    Command() = default;
    ~Command();
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;
    void start(const std::vector<std::string>& words, int in_and_out, int errors);

   private:
    Poller poller_;
    Descriptor ended_;
    pid_t process_ = 0;
  };

  std::unique_ptr<Command> command_;  // null: the run is on this host
  Descriptor socket_;
  std::string inbox_;
  std::string trouble_;
};

}  // namespace lp::internal
