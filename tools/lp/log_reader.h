#pragma once
// Reads the log of one node (launchers/record/node_log.h) from its beginning through its parts, while it may grow and
// turn over. One thread owns and uses it.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/record/log_times.h"
#include "launchers/record/node_output.h"
#include "lp/base/descriptor.h"
#include "lp/base/function.h"

namespace lp::tool {

struct LogLine {
  std::string_view text{};
  // The earliest and the latest time at which the line was written, as far as the log has them. Seconds since 1970.
  double earliest = 0;
  double latest = 0;
};

class LogReader {
 public:
  using Take = Function<void(const LogLine& line)>;

  // `path` is the path of the growing part: "logs/worker/1.log". The file need not exist yet.
  explicit LogReader(std::filesystem::path path) : path_(std::move(path)) {}

  // Passes on every complete line that is there and was not passed on before. Lines that come meanwhile may stay for
  // the next call.
  void read(Take take);
  // Passes on these lines and the last one without an end, because no more text comes.
  void finish(Take take);

 private:
  void begin(Take& take);
  void report_gap(const Descriptor& newest, Take& take);
  void read_next_part(Descriptor part, Take& take);
  void read_part(Take& take);
  void find_times();
  void take_bytes(std::string_view bytes, Take& take);
  void give(std::string_view line, Take& take) const;

  const std::filesystem::path path_;
  Descriptor part_;                     // the part that is being read
  bool at_note_ = false;                // the reader is at the note with which the log begins all parts but the first
  std::string note_;                    // the bytes of the note so far
  std::uint64_t offset_ = 0;            // the position in the part
  std::vector<launch::LogTime> times_;  // the times of the part
  double last_written_ = 0;             // when the part was last written
  LogLine now_;                         // has the times of the text that is being read
  launch::LineCutter lines_;
};

}  // namespace lp::tool
