#include "launchers/record/run_recorder.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <system_error>
#include <utility>

#include "launchers/os/relaunch_command.h"
#include "launchers/record/hyperparameters.h"
#include "launchers/record/record_time.h"
#include "launchers/record/run_directory.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/json.h"
#include "lp/base/scheduler.h"
#include "lp/program/plan.h"

namespace lp::launch {
namespace {

constexpr std::uint64_t kEventBytes = std::uint64_t{3} << 20;
// up to this number every cut is an event, later one cut in a number of seconds
constexpr std::uint64_t kAllCuts = 1000;
constexpr double kCutPeriod = 60;

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

RunRecorder::RunRecorder(const std::filesystem::path& directory)
    : directory_(directory.empty() ? directory : std::filesystem::absolute(directory)),
      events_(directory_ / "events.log", kEventBytes),
      curves_(directory_) {}

std::string RunRecorder::write(const char* name, std::string text) {
  try {
    if (writes()) write_file(directory_ / name, text + "\n");
    return {};
  } catch (const Error& error) {
    return error.text();
  }
}

std::string RunRecorder::begin(RunRecord record, const Plan& plan, const std::string& configuration) {
  began_ = wall_seconds();
  record.host = host_name();
  std::error_code ignored;
  record.binary = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (record.directory.empty()) record.directory = directory_;
  record.pid = getpid();
  record.began = began_;
  record.command = own_command_line();
  std::string fault = write("run.json", to_json(record));
  const auto add = [&](const std::string& another) {
    if (fault.empty()) fault = another;
  };
  if (!configuration.empty()) {
    add(write(kConfigurationFile, configuration));
    curves_.add_session(session_start_record(began_, hyperparameters_of(configuration)));
  }
  add(write("plan.json", to_json(plan)));
  return fault;
}

void RunRecorder::status(std::string_view json) { write("status.json", std::string(json)); }

void RunRecorder::event(RunEvent event) {
  if (!writes()) return;
  event.time = wall_seconds();
  if (event.kind == RunEvent::Kind::cut) {  // many cuts must not displace more important events
    if (++cuts_ > kAllCuts && event.time < last_cut_ + kCutPeriod) return;
    last_cut_ = event.time;
  }
  std::string error;
  events_.write(to_json(event) + "\n", error);
}

std::string RunRecorder::end(ResultRecord record, std::string_view report) {
  record.ended = wall_seconds();
  curves_.add_session(session_end_record(record.ended, record.success));
  curves_.flush();
  record.seconds = record.ended - began_;
  std::string text = to_json(record);
  if (!report.empty()) text.insert(text.size() - 1, ",\"report\":" + std::string(report));
  return write("result.json", std::move(text));
}

}  // namespace lp::launch
