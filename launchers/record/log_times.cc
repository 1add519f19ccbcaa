#include "launchers/record/log_times.h"

#include <fcntl.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <system_error>

#include "launchers/record/run_directory.h"
#include "lp/base/descriptor.h"
#include "lp/base/file.h"
#include "lp/base/scheduler.h"

namespace lp::launch {
namespace {
constexpr double kLinePeriod = 1;    // seconds between two lines
constexpr std::uint64_t kShare = 8;  // the file has at most one kShare-th of the size of its log
}  // namespace

std::filesystem::path times_path(const std::filesystem::path& part) {
  std::filesystem::path path = part;
  return path.replace_extension(".times");
}

void LogTimes::note(const std::filesystem::path& part, std::uint64_t offset, std::uint64_t limit) {
  const double time = std::floor(static_cast<double>(wall_clock()) / 1e6) / 1e3;
  if ((time >= last_ && time - last_ < kLinePeriod) || written_ > limit / kShare) return;
  last_ = time;
  std::array<char, 64> line{};
  const int size =
      std::snprintf(line.data(), line.size(), "%.3f %llu\n", time, static_cast<unsigned long long>(offset));
  const Descriptor file(open(times_path(part).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (file && write_all(file.number(), {line.data(), static_cast<std::size_t>(size)})) {
    written_ += static_cast<std::uint64_t>(size);
  }
}

void LogTimes::turn_over(const std::filesystem::path& part, const std::filesystem::path& renamed) {
  std::error_code ignored;
  std::filesystem::rename(times_path(part), times_path(renamed), ignored);
  last_ = 0;
  written_ = 0;
}

std::vector<LogTime> parse_times(std::string_view text) {
  std::vector<LogTime> times;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // the line is still being written
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    LogTime one;
    const char* const stop = line.data() + line.size();
    const auto [space, error] = std::from_chars(line.data(), stop, one.time);
    if (error != std::errc() || space == stop) break;
    if (std::from_chars(space + 1, stop, one.offset).ptr != stop) break;
    if (!times.empty() && one.offset < times.back().offset) break;
    times.push_back(one);
  }
  return times;
}

}  // namespace lp::launch
