#pragma once
// Copies of the logs of a run whose directory is on another host. Readers use them like the originals: they grow and
// turn over (launchers/record/node_log.h) in the same way. They are below a directory that is removed with their owner.
//
// One thread owns and uses it.

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "launchers/admin/admin_client.h"

namespace lp::tool {

class LogMirror {
 public:
  // Throws CommandError(failed) when the directory cannot be made.
  explicit LogMirror(launch::AdminClient client);
  ~LogMirror();
  LogMirror(const LogMirror&) = delete;
  LogMirror& operator=(const LogMirror&) = delete;

  const std::filesystem::path& directory() const { return directory_; }
  // Adds a log by its name in the run's directory: "logs/worker/1.log".
  void add(const std::filesystem::path& log) { logs_.push_back(log); }
  // Fetches new bytes. Returns false when the run has ended or is unreachable. Throws CommandError as ask() does.
  bool update();
  // Readable when the run has ended.
  int fd() const { return client_.fd(); }

 private:
  void fetch_log(const std::filesystem::path& log);
  // Fetches the bytes of the log's part that the copy does not have yet.
  void fetch_part(const std::filesystem::path& part, const std::filesystem::path& newest);
  void fetch_rest(const std::filesystem::path& file);
  std::uint64_t id_of(const std::filesystem::path& file);

  launch::AdminClient client_;
  std::filesystem::path directory_;
  std::vector<std::filesystem::path> logs_;
  std::map<std::filesystem::path, std::uint64_t> ids_;  // by path: the ids of the parts that are here
};

}  // namespace lp::tool
