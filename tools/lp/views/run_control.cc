#include "tools/lp/views/run_control.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/json.h"
#include "tools/lp/command_error.h"
#include "tools/lp/plan_file.h"
#include "tools/lp/run_requests.h"
#include "tools/lp/run_text.h"

namespace lp::tool {
namespace {

struct StopRequest {
  std::string ask = "stop";
  std::string reason{};
  std::string by{};
  bool force = false;
};
struct RestartRequest {
  std::string ask = "restart";
  std::string node{};
  bool force = false;
};

std::string done_of(const JsonValue& answer) {
  const JsonValue* done = answer.find("done");
  return done == nullptr ? std::string() : done->text();
}

// Waits until the engine of a run reports its end. Returns how it ended; empty: it has not.
std::string wait_for_engine(const RunLocation& place, double patience) {
  const Time until = after(from_seconds(patience));
  for (Event never; !passed(until); never.wait(after(launch::kJobPeriod))) {
    const RunView then = view_of(place);
    if (then.life == Life::ended || then.life == Life::lost) return sentence_of(then);
  }
  return {};
}

// The engine keeps objects of a job that has ended until they are removed: by a launch that follows it, or by us.
void remove_job(const RunView& run) {
  if (run.jobs == nullptr) return;
  try {
    run.jobs->remove(run.record);
  } catch (const Error& error) {
    throw CommandError(Exit::failed, error.text());
  }
}

CommandError still_runs(const std::string& name, double patience) {
  return {Exit::timed_out,
          name + " has not ended after " + short_duration(patience) + ": `lp stop --force` kills its nodes"};
}

// Ends an unreachable run through its engine. Returns how it ended.
std::string stop_by_engine(const RunView& run, const Stop& stop) {
  std::string end;
  try {
    end = run.jobs->cancel(run.record, run.place.directory,
                           {.by = stop.by, .reason = stop.reason, .force = stop.force || run.life == Life::pending});
  } catch (const Error& error) {
    throw CommandError(Exit::failed, error.text());
  }
  const std::string job = run.jobs->name_of(run.record);
  if (!end.empty()) return end;
  if (stop.patience <= 0) return job + " is cancelled";
  end = wait_for_engine(run.place, stop.patience);
  if (end.empty()) throw still_runs(job, stop.patience);
  return end;
}

// Asks the run itself. Returns its answer. A launcher that is suspended finds the request when it goes on.
std::string request_stop(launch::AdminClient& client, const Stop& stop, Duration patience) {
  StopRequest request;
  request.reason = stop.reason.empty() ? stop.by : stop.reason;
  request.by = stop.by;
  request.force = stop.force;
  try {
    return done_of(ask(client, to_json(request), patience));
  } catch (const CommandError& error) {
    if (error.code() == Exit::timed_out) {
      throw CommandError(Exit::timed_out, std::string(error.what()) + "; it stops as soon as its launcher goes on");
    }
    if (error.code() != Exit::not_live) throw;  // it ended before it could answer
  }
  return {};
}

}  // namespace

std::string this_user(const std::string& command) {
  const passwd* user = getpwuid(geteuid());
  return (user == nullptr ? std::to_string(geteuid()) : std::string(user->pw_name)) + " (" + command + ")";
}

std::string stop_run(RunView& run, const Stop& stop) {
  if (run.life == Life::ended || run.life == Life::lost) {  // the run has already ended
    remove_job(run);
    return "there is nothing to stop; " + sentence_of(run);
  }
  launch::AdminClient client = try_to_connect(run);
  if (!client.open() && run.job.has_value()) {
    std::string done = stop_by_engine(run, stop);
    run = view_of(run.place);
    return done;
  }
  if (!client.open()) client = connect_to(run);
  const bool waits = stop.patience > 0;
  const Time until = waits ? after(from_seconds(stop.patience)) : kNever;
  const Duration patience = waits ? std::min<Duration>(from_seconds(stop.patience), kAnswerTimeout) : kAnswerTimeout;
  std::string done = request_stop(client, stop, patience);
  if (!waits) return done;
  while (client.next(until).has_value()) {
  }
  if (client.open()) throw still_runs(run.place.name, stop.patience);
  if (run.job.has_value()) static_cast<void>(wait_for_engine(run.place, stop.patience));
  run = view_of(run.place);
  remove_job(run);
  return run.life == Life::elsewhere ? "it has ended; its result is on " + run.record.host : sentence_of(run);
}

std::string restart_node(const RunView& run, const std::string& node, bool force) {
  const Plan plan = plan_of(run.place);
  const std::vector<NodeId> found = find_nodes(plan, node);
  RestartRequest request;
  request.node = found.size() == 1 ? plan.nodes[found.front()].name : node;
  request.force = force;
  launch::AdminClient client = connect_to(run);
  return done_of(ask(client, to_json(request)));
}

}  // namespace lp::tool
