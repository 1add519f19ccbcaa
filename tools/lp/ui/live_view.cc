#include "tools/lp/ui/live_view.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "tools/lp/command_error.h"
#include "tools/lp/plan_file.h"
#include "tools/lp/run_requests.h"
#include "tools/lp/ui/live_lines.h"
#include "tools/lp/views/events.h"

namespace lp::tool {
namespace {

constexpr auto kUpdate = std::chrono::seconds(1);  // between two lines of a live run
constexpr auto kCheck = std::chrono::seconds(2);   // while a run does not answer, or has ended

class LiveView {
 public:
  LiveView(RunLocation place, LineSink& out) : place_(std::move(place)), out_(out) {}

  // Shows the run until it ends, does not answer, or the reader leaves.
  void show() {
    RunView run = view_of(place_);
    out_.write(run_line(run));
    show_events(run);
    if (run.life != Life::live && run.life != Life::elsewhere) return;
    const Plan plan = plan_of(place_);
    launch::AdminClient client = connect_to(run);
    MeasureRecord before = measure(client);
    run.life = Life::live;
    while (out_.write({}) && wait_between(client, kUpdate)) {
      MeasureRecord after = measure(client);
      run.status = after.status;
      out_.write(run_line(run));
      out_.write(rates_line(plan, rates_of(before, after), run.status, kShownEdges));
      show_events(run);
      before = std::move(after);
    }
  }

 private:
  void show_events(const RunView& run) {
    if (!events_.has_value()) events_.emplace(run);
    const std::vector<RunEvent> events = events_->read();
    const std::span<const RunEvent> shown(events);
    if (!events.empty()) out_.write(events_line(shown.last(std::min(shown.size(), kShownEvents))));
  }

  const RunLocation place_;
  LineSink& out_;
  std::optional<EventReader> events_;
};

}  // namespace

void show_live(const RunLocation& place, LineSink& out) {
  LiveView view(place, out);
  do {
    try {
      view.show();
    } catch (const CommandError& error) {
      out.write(trouble_line(error.what()));
    } catch (const Error& error) {
      out.write(trouble_line(error.text()));
    }
  } while (out.wait(kCheck));
}

}  // namespace lp::tool
