#pragma once
// What a run writes about itself into its directory: plan.json, run.json, config.yaml, status.json, events.log and
// result.json. The run goes on when they cannot be written.
//
// Owned and used by the loop thread of a run, except for the constructor and begin(), which come before it.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "launchers/record/node_log.h"
#include "launchers/record/records.h"

namespace lp {
struct Plan;

namespace internal {

// In a run's directory: a file for --config, with the resolved configuration of the program, and below `launch` which
// of the binary's programs it is, and the seed.
inline constexpr const char* kConfigurationFile = "config.yaml";

// Of this machine.
std::string host_name();

class Journal {
 public:
  // `directory` is there already; empty: nothing is written.
  explicit Journal(const std::filesystem::path& directory);

  bool writes() const { return !directory_.empty(); }
  // Fills in what it knows itself: host, binary, directory, process, time and command. `configuration`: as
  // resolved_configuration() gives it.
  void begin(RunRecord record, const Plan& plan, const std::string& configuration);
  void status(std::string_view json);
  void event(RunEvent event);
  // `report` is JSON; empty: there is none. Returns why the result could not be written; empty: it was.
  std::string end(ResultRecord record, std::string_view report);

 private:
  std::string write(const char* name, std::string text);  // why it could not be written

  std::filesystem::path directory_;
  double began_ = 0;
  NodeLog events_;
  std::uint64_t cuts_ = 0;  // complete ones
  double last_cut_ = 0;     // when one was written
};

}  // namespace internal
}  // namespace lp
