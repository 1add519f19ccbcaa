#pragma once
// Records when a log was written. Beside each part "worker/1.log" stands "worker/1.times". It has a line for about
// every second in which the log grew: the seconds since 1970, and the number of bytes of the part that are older.
// Functions and values; one thread owns and uses the writer.

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace lp::launch {

struct LogTime {
  double time = 0;           // seconds since 1970
  std::uint64_t offset = 0;  // the bytes of the part from here on were written at that time or later
};

// Returns "worker/1.first.times" for "worker/1.first.log".
std::filesystem::path times_path(const std::filesystem::path& part);

class LogTimes {
 public:
  // Notes that `part`, whose size is `offset` and which may grow to `limit` bytes, is about to be written.
  void note(const std::filesystem::path& part, std::uint64_t offset, std::uint64_t limit);
  // Notes that the part was renamed and a new one begins.
  void turn_over(const std::filesystem::path& part, const std::filesystem::path& renamed);

 private:
  double last_ = 0;
  std::uint64_t written_ = 0;  // bytes of the file beside this part
};

// Returns the entries sorted by both members. From malformed text it returns the entries that it can read.
std::vector<LogTime> parse_times(std::string_view text);

}  // namespace lp::launch
