#pragma once
// The client's end of a run's admin socket, for the lp command and for tests. run_api.h lists the requests.
//
// One thread owns and uses it.

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/admin/run_connection.h"
#include "lp/base/descriptor.h"
#include "lp/base/scheduler.h"

namespace lp::launch {

class AdminClient {
 public:
  // Connects to the run in `directory`. open() is false when no run serves there.
  explicit AdminClient(const std::filesystem::path& directory) : socket_(connect_to_run(directory)) {}
  // Connects through a command that leads to the run (relay.h). The command has until `until` to connect.
  AdminClient(const std::vector<std::string>& command, Time until);

  bool open() const { return static_cast<bool>(socket_); }
  // Why the command does not lead to the run, as far as the command reports it.
  const std::string& trouble() const { return trouble_; }
  // Sends a line.
  void ask(std::string_view request, Time until);
  // Returns the next line. Returns nothing when `until` came first, or when the run has closed the connection; open()
  // is then false.
  std::optional<std::string> next(Time until);

  // For a poll of several descriptors: readable when next() may have a line that has() does not see yet.
  int fd() const { return socket_.number(); }
  bool has() const { return inbox_.find('\n') != std::string::npos; }

 private:
  // The command, which ends with the connection. Everything that its end needs exists before it starts.
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

}  // namespace lp::launch
