#pragma once
// The other end of a run's control socket: for the lp command, and for tests. live.h has what may be asked.
//
// Owned and used by one thread.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "lp/base/descriptor.h"
#include "lp/base/scheduler.h"

namespace lp::internal {

class LiveClient {
 public:
  // Connects to the run in `directory`; open() is false when nobody serves there.
  explicit LiveClient(const std::filesystem::path& directory);

  bool open() const { return static_cast<bool>(socket_); }
  // Sends a line.
  void ask(std::string_view request, Time until);
  // The next line; nothing when `until` came first, or when the run has closed the connection: then open() is false.
  std::optional<std::string> next(Time until);

  // To wait for more than one thing: readable when next() may have something that has() has not.
  int fd() const { return socket_.number(); }
  bool has() const { return inbox_.find('\n') != std::string::npos; }

 private:
  Descriptor socket_;
  std::string inbox_;
};

}  // namespace lp::internal
