#pragma once
// The bounded log of one node on disk: the beginning and the newest part stay. "worker/1.log" is always the part that
// grows. Once it is full it becomes "worker/1.first.log", later parts become "worker/1.previous.log", and each of those
// replaces the one before.
//
// One thread owns and uses it.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "launchers/record/log_times.h"

namespace lp::launch {

class NodeLog {
 public:
  // The first write makes the file, or continues the one that an earlier start of the run has left. `limit` bounds all
  // parts together.
  NodeLog(std::filesystem::path path, std::uint64_t limit);
  ~NodeLog();
  NodeLog(NodeLog&& other) noexcept;
  NodeLog& operator=(NodeLog&&) = delete;

  // Returns false once the disk refuses a write, and nothing more is ever written. `error` gets the reason once.
  bool write(std::string_view bytes, std::string& error);

 private:
  bool open();
  void turn_over();

  std::filesystem::path path_;
  std::filesystem::path root_;  // it is not made again when somebody removes it
  std::uint64_t part_;          // the size of each of the three parts in bytes
  std::uint64_t size_ = 0;
  std::uint64_t parts_ = 0;  // the number of full parts
  LogTimes times_;
  int fd_ = -1;
  bool broken_ = false;
};

}  // namespace lp::launch
