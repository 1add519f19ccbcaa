#include "tools/lp/run_requests.h"

#include <vector>

#include "launchers/admin/relay.h"
#include "lp/base/error.h"
#include "lp/base/text.h"
#include "tools/lp/command_error.h"

namespace lp::tool {
namespace {
constexpr auto kTimeToReach = std::chrono::seconds(20);  // for the command that leads to another host
}  // namespace

launch::AdminClient try_to_connect(const RunView& run) {
  if (run.life != Life::elsewhere) return launch::AdminClient(run.place.directory);
  const std::vector<std::string> relay =
      run.jobs == nullptr ? launch::relay_by_ssh(run.record)
                          : run.jobs->command_beside(run.record, *run.job, launch::relay_flag(run.record));
  return launch::AdminClient(relay, after(kTimeToReach));
}

launch::AdminClient connect_to(const RunView& run) {
  if (run.silent) {  // else every question would only wait for its time to be over
    if (const std::string text = standstill_of(run); !text.empty()) {
      throw CommandError(Exit::timed_out, run.place.name + " does not answer: " + text);
    }
  }
  launch::AdminClient client = try_to_connect(run);
  if (!client.open()) {
    const RunView now = view_of(run.place);
    const bool elsewhere = now.life == Life::elsewhere;
    const bool over = now.life == Life::ended || now.life == Life::lost;
    throw CommandError(
        Exit::not_live,
        now.place.name + ": " + sentence_of(now) + (elsewhere ? "; " + client.trouble() : "") +
            (over ? "; this needs a run that goes on: `lp report " + now.place.name + "` tells what happened" : ""));
  }
  return client;
}

JsonValue ask(launch::AdminClient& client, const std::string& request, Duration patience) {
  const Time until = after(patience);
  client.ask(request, until);
  const auto line = client.next(until);
  if (!line.has_value() && client.open()) {
    throw CommandError(Exit::timed_out, "the run does not answer within " + duration_text(patience) +
                                            ": its launcher may be suspended or overloaded");
  }
  if (!line.has_value()) throw CommandError(Exit::not_live, "the run has ended meanwhile");
  JsonValue answer = JsonValue::parse(*line);
  if (const JsonValue* error = answer.find("error")) throw CommandError(Exit::failed, error->text());
  return answer;
}

MeasureRecord measure(launch::AdminClient& client) {
  return from_json<MeasureRecord>(ask(client, R"({"ask":"measure"})"));
}

bool wait_between(launch::AdminClient& client, Duration duration) {
  client.next(after(duration));  // a run sends nothing without a request
  return client.open();
}

}  // namespace lp::tool
