#pragma once
// When a log was written: beside each of its parts, "worker/1.log", stands "worker/1.times" with a line for about every
// second in which something was written: seconds since 1970, and how many bytes of the part are older. Functions and
// values; the writer is owned and used by one thread.

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace lp::internal {

struct LogTime {
  double time = 0;           // seconds since 1970
  std::uint64_t offset = 0;  // what stands behind it in the part was written at that time, or later
};

// "worker/1.first.times" of "worker/1.first.log".
std::filesystem::path times_path(const std::filesystem::path& part);

class LogTimes {
 public:
  // Something is about to be written into `part`, whose size is `offset`, and which will have `limit` bytes.
  void note(const std::filesystem::path& part, std::uint64_t offset, std::uint64_t limit);
  // The part got another name, and a new one begins.
  void turn_over(const std::filesystem::path& part, const std::filesystem::path& renamed);

 private:
  double last_ = 0;
  std::uint64_t written_ = 0;  // bytes, beside this part
};

// In the order of both members; of what is no such file, what there is of it.
std::vector<LogTime> parse_times(std::string_view text);

}  // namespace lp::internal
