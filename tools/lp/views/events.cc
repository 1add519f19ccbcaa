#include "tools/lp/views/events.h"

#include <filesystem>
#include <memory>

#include "lp/base/error.h"
#include "tools/lp/run_requests.h"

namespace lp::tool {
namespace {

constexpr const char* kEvents = "events.log";

// Adds the event that a line has.
void add_event(std::vector<RunEvent>& events, const LogLine& line) {
  try {
    events.push_back(from_json<RunEvent>(line.text));
  } catch (const Error&) {  // the disk was full, or the line is the note that events were dropped
  }
}

bool is_away(const RunView& run) {
  return run.life == Life::elsewhere && !std::filesystem::exists(run.place.directory / kEvents);
}

}  // namespace

EventReader::EventReader(const RunView& run)
    : mirror_(is_away(run) ? std::make_unique<LogMirror>(connect_to(run)) : nullptr),
      reader_((mirror_ == nullptr ? run.place.directory : mirror_->directory()) / kEvents) {
  if (mirror_ != nullptr) mirror_->add(kEvents);
}

std::vector<RunEvent> EventReader::read() {
  if (mirror_ != nullptr) mirror_->update();
  std::vector<RunEvent> events;
  reader_.read([&](const LogLine& line) { add_event(events, line); });
  return events;
}

std::vector<RunEvent> events_of(const RunLocation& run) {
  std::vector<RunEvent> events;
  LogReader(run.directory / kEvents).finish([&](const LogLine& line) { add_event(events, line); });
  return events;
}

}  // namespace lp::tool
