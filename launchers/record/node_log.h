#pragma once
// The log of one node on disk, bounded: the beginning and the newest part stay. "worker/1.log" is always the part that
// grows; once it is full it becomes "worker/1.first.log", and later "worker/1.previous.log", which the next replaces.
//
// Owned and used by one thread.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "launchers/record/log_times.h"

namespace lp::internal {

class NodeLog {
 public:
  // The file is made with the first write, or goes on as an earlier start of the run has left it; `limit` bounds all
  // parts together.
  NodeLog(std::filesystem::path path, std::uint64_t limit);
  ~NodeLog();
  NodeLog(NodeLog&& other) noexcept;
  NodeLog& operator=(NodeLog&&) = delete;

  // False, and nothing more is ever written, once the disk refuses: then `error` says why, once.
  bool write(std::string_view bytes, std::string& error);

 private:
  bool open();
  void turn_over();

  std::filesystem::path path_;
  std::uint64_t part_;  // bytes of each of the three parts
  std::uint64_t size_ = 0;
  std::uint64_t parts_ = 0;  // that are full
  LogTimes times_;
  int fd_ = -1;
  bool broken_ = false;
};

}  // namespace lp::internal
