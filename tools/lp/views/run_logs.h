#pragma once
// The logs of some nodes of a run, while they grow: the files of its directory, or copies of those on another host.
//
// One thread owns and uses it.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launchers/admin/admin_client.h"
#include "tools/lp/log_mirror.h"
#include "tools/lp/log_reader.h"
#include "tools/lp/runs.h"

namespace lp::tool {

class RunLogs {
 public:
  // The log of one process, which has the name of its first node.
  struct Log {
    std::string name;
    LogReader reader;
  };

  // `nodes`: names of nodes and groups; none: all. `follow`: update() is called until it returns false. Throws
  // CommandError: (unknown) without such a node, (failed) for a run without logs, (not_live) when the logs are
  // unreachable.
  RunLogs(const RunView& run, std::span<const std::string> nodes, bool follow);

  std::vector<Log>& logs() { return logs_; }
  // The directory of the logs on this host.
  const std::filesystem::path& directory() const { return directory_; }

  // Fetches what is on another host. Returns false when the run has ended: read the logs to their end.
  bool update();
  // Readable when the run has ended; negative: there is none.
  int fd() const { return mirror_.has_value() ? mirror_->fd() : live_->fd(); }

 private:
  std::optional<LogMirror> mirror_;
  std::optional<launch::AdminClient> live_;  // set without a mirror
  std::filesystem::path directory_;
  std::vector<Log> logs_;
};

}  // namespace lp::tool
