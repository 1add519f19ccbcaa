#pragma once
// Copies of the logs of a run whose directory is not on this host, for who reads them as if it were: they grow and turn
// over (launchers/record/node_log.h) as those do. They lie below a directory that is removed with their owner.
//
// Owned and used by one thread.

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "launchers/admin/admin_client.h"

namespace lp::tool {

class Mirror {
 public:
  // Throws Refusal(failed) when there is no place for the directory.
  explicit Mirror(internal::LiveClient client);
  ~Mirror();
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  const std::filesystem::path& directory() const { return directory_; }
  // A log, by its name in the run's directory: "logs/worker/1.log".
  void add(const std::filesystem::path& log) { logs_.push_back(log); }
  // Fetches what is new. False when the run has ended, or cannot be reached any more. Throws Refusal as ask() does.
  bool update();
  // Readable when the run has ended.
  int fd() const { return client_.fd(); }

 private:
  void fetch_log(const std::filesystem::path& log);
  // Fetches what a part of the log has behind what is here of it.
  void fetch_part(const std::filesystem::path& part, const std::filesystem::path& newest);
  void fetch_rest(const std::filesystem::path& file);
  std::uint64_t id_of(const std::filesystem::path& file);

  internal::LiveClient client_;
  std::filesystem::path directory_;
  std::vector<std::filesystem::path> logs_;
  std::map<std::filesystem::path, std::uint64_t> ids_;  // of the parts that are here, where they are
};

}  // namespace lp::tool
