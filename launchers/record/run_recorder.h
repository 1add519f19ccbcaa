#pragma once
// Writes the files of a run into its directory: plan.json, run.json, config.yaml, status.json, events.log and
// usage.json and result.json, and the curves of its nodes. The run continues when they cannot be written.
//
// The loop thread of a run owns and uses it. Only the constructor and begin() come before that thread.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "launchers/record/curves.h"
#include "launchers/record/node_log.h"
#include "launchers/record/records.h"
#include "launchers/record/usage.h"

namespace lp {
struct Plan;

namespace launch {

// A file for --config in the run's directory. It has the resolved configuration of the program, and below `launch` the
// name of the program inside the binary and the seed.
inline constexpr const char* kConfigurationFile = "config.yaml";

// The name of this machine.
std::string host_name();

class RunRecorder {
 public:
  // `directory` must exist; empty: nothing is written.
  explicit RunRecorder(const std::filesystem::path& directory);

  bool writes() const { return !directory_.empty(); }
  // Fills in the host, the binary, the directory, the process, the time and the command by itself. `configuration` is
  // the result of resolved_configuration(). Returns why a file could not be written; empty: all were.
  std::string begin(RunRecord record, const Plan& plan, const std::string& configuration);
  void status(std::string_view json);
  void usage(std::string_view json) { write(kUsageFile, std::string(json)); }
  void progress(const std::string& node, const Progress& progress) { curves_.add(node, progress); }
  std::string save_curves() { return curves_.flush(); }  // a fault of which people should know; empty: there is none
  bool lost_curves() const { return curves_.lost(); }
  void event(RunEvent event);
  // `report` is JSON; empty: there is none. Returns why the result could not be written; empty: it was.
  std::string end(ResultRecord record, std::string_view report);

 private:
  std::string write(const char* name, std::string text);  // returns why it could not be written

  std::filesystem::path directory_;
  double began_ = 0;
  NodeLog events_;
  Curves curves_;
  std::uint64_t cuts_ = 0;  // the number of complete cuts
  double last_cut_ = 0;     // the time of the last cut that was written
};

}  // namespace launch
}  // namespace lp
