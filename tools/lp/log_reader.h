#pragma once
// Reads the log of one node (launchers/record/node_log.h) from its beginning on, through its parts, while it may grow
// and turn over. Owned and used by one thread.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/record/log_times.h"
#include "launchers/record/node_output.h"
#include "lp/base/descriptor.h"
#include "lp/base/function.h"

namespace lp::tool {

struct LogLine {
  std::string_view text{};
  // When it was written, at the earliest and at the latest, as far as the log tells. Seconds since 1970.
  double earliest = 0;
  double latest = 0;
};

class LogReader {
 public:
  using Take = Function<void(const LogLine& line)>;

  // `path` is that of the part that grows: "logs/worker/1.log". It need not exist yet.
  explicit LogReader(std::filesystem::path path) : path_(std::move(path)) {}

  // Gives every line that is whole now and was not given before.
  void read(Take take);
  // And what has no end, because nothing more comes.
  void finish(Take take);

 private:
  void begin(Take& take);
  void tell_gap(const Descriptor& newest, Take& take);
  void read_next_part(Descriptor part, Take& take);
  void read_part(Take& take);
  void find_times();
  void take_bytes(std::string_view bytes, Take& take);
  void give(std::string_view line, Take& take) const;

  const std::filesystem::path path_;
  Descriptor part_;                       // that is being read
  bool at_note_ = false;                  // which the log itself writes at the beginning of all parts but the first
  std::string note_;                      // of which so much was read
  std::uint64_t offset_ = 0;              // in the part
  std::vector<internal::LogTime> times_;  // of the part
  double last_written_ = 0;               // into the part
  LogLine now_;                           // with the times of what is being read
  internal::LineCutter lines_;
};

}  // namespace lp::tool
