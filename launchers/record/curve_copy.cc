#include "launchers/record/curve_copy.h"

#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "launchers/record/curves.h"
#include "launchers/record/event_reader.h"
#include "launchers/record/event_records.h"
#include "launchers/record/saved_curves.h"
#include "lp/base/file.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

struct StepRecord {
  std::uint64_t step = 0;
  bool numbers = false;  // it has numbers; others have histograms and texts
  std::string record{};
};

std::vector<StepRecord> lasting_records(const std::filesystem::path& folder) {
  std::vector<StepRecord> records;
  for (const std::filesystem::path& file : event_files(folder)) {
    read_events(read_text(file, kLargestEventFile), [&](const ReadEvent& event) {
      if (event.restarts) std::erase_if(records, [&](const StepRecord& one) { return one.step >= event.step; });
      if (event.shows) records.push_back({event.step, !event.values.empty(), std::string(event.record)});
    });
  }
  return records;
}

// Thins out the records with numbers, or the others, until they fit.
void thin_out(std::vector<StepRecord>& records, bool numbers) {
  for (;;) {
    std::uint64_t bytes = 0;
    for (const StepRecord& one : records) bytes += one.numbers == numbers ? one.record.size() : 0;
    if (bytes <= 2 * Curves::kWholeBytes) return;
    std::size_t number = 0;
    std::erase_if(records, [&](const StepRecord& one) { return one.numbers == numbers && number++ % 2 != 0; });
  }
}

}  // namespace

void continue_curves(const std::filesystem::path& earlier, const std::filesystem::path& directory) {
  for (const std::string& damage : damaged_curves(earlier)) log_line("resume: " + damage);
  const double now = static_cast<double>(wall_clock()) / 1e9;
  for (const std::string& node : curve_nodes(earlier)) {
    std::vector<StepRecord> records = lasting_records(earlier / kCurves / node);
    for (const bool numbers : {true, false}) thin_out(records, numbers);
    // If a job begins again in its directory before its first checkpoint, this replaces what it has reported.
    std::string text = version_record(now) + restart_record(now, 0);
    for (const StepRecord& one : records) text += one.record;
    const std::filesystem::path file = new_event_file(directory / kCurves / node);
    std::error_code failed;
    std::filesystem::create_directories(file.parent_path(), failed);
    write_file(file, text);
  }
}

}  // namespace lp::launch
