// lp stop and lp restart: the commands that change a live run.

#include <pwd.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/json.h"
#include "tools/lp/command.h"
#include "tools/lp/plan_file.h"
#include "tools/lp/run_requests.h"
#include "tools/lp/run_text.h"

namespace lp::tool {
namespace {

std::string user_name() {
  const passwd* user = getpwuid(geteuid());
  return user == nullptr ? std::to_string(geteuid()) : user->pw_name;
}

struct StopRequest {
  std::string ask = "stop";
  std::string reason{};
  std::string by{};
  bool force = false;
};
struct RestartRequest {
  std::string ask = "restart";
  std::string node{};
};

std::string done_of(const JsonValue& answer) {
  const JsonValue* done = answer.find("done");
  return done == nullptr ? std::string() : done->text();
}

void show(Screen& screen, const RunView& run, const std::string& text, bool json) {
  JsonWriter writer;
  if (json) {
    write_run(writer, run);
  }
  screen.write((json ? std::move(writer).text() : Screen::clean(run.place.name) + ": " + Screen::clean(text)) + "\n");
}

std::string stopper() { return user_name() + " (lp stop)"; }

std::string reason_of(const Arguments& arguments) {
  return arguments.has("reason") ? arguments.value("reason") : stopper();
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
    throw Refusal(Exit::failed, error.text());
  }
}

// Ends an unreachable run through its engine. Returns how it ended.
std::string stop_by_engine(const RunView& run, const Arguments& arguments, double patience) {
  std::string end;
  try {
    end = run.jobs->cancel(run.record, run.place.directory,
                           {.by = stopper(),
                            .reason = arguments.has("reason") ? arguments.value("reason") : std::string(),
                            .force = arguments.has("force") || run.life == Life::pending});
  } catch (const Error& error) {
    throw Refusal(Exit::failed, error.text());
  }
  const std::string job = run.jobs->name_of(run.record);
  if (!end.empty()) return end;
  if (patience <= 0) return job + " is cancelled";
  end = wait_for_engine(run.place, patience);
  if (!end.empty()) return end;
  throw Refusal(Exit::timed_out,
                job + " has not ended after " + short_duration(patience) + ": `lp stop --force` kills its nodes");
}

}  // namespace

int stop_command(const Arguments& arguments, Screen& screen) {
  const bool json = arguments.has("json");
  const double patience = arguments.seconds("timeout", 60);
  RunView run = view_of(find_run(arguments.words()[0]));
  if (run.life == Life::ended || run.life == Life::lost) {  // the run has already ended
    remove_job(run);
    show(screen, run, "there is nothing to stop; " + sentence_of(run), json);
    return code_of(Exit::done);
  }
  launch::AdminClient client = try_to_connect(run);
  if (!client.open() && run.job.has_value()) {
    const std::string done = stop_by_engine(run, arguments, patience);
    show(screen, view_of(run.place), done, json);
    return code_of(Exit::done);
  }
  if (!client.open()) client = connect_to(run);
  StopRequest request;
  request.reason = reason_of(arguments);
  request.by = stopper();
  request.force = arguments.has("force");
  std::string done;
  try {
    done = done_of(ask(client, to_json(request)));
  } catch (const Refusal& refusal) {
    if (refusal.code() != Exit::not_live) throw;  // it ended before it could answer
  }
  if (patience > 0) {
    const Time until = after(from_seconds(patience));
    while (client.next(until).has_value()) {
    }
    if (client.open()) {
      throw Refusal(Exit::timed_out, run.place.name + " has not ended after " + short_duration(patience) +
                                         ": `lp stop --force` kills its nodes");
    }
    if (run.job.has_value()) static_cast<void>(wait_for_engine(run.place, patience));
    run = view_of(run.place);
    remove_job(run);
    done = run.life == Life::elsewhere ? "it has ended; its result is on " + run.record.host : sentence_of(run);
  }
  show(screen, run, done, json);
  return code_of(Exit::done);
}

int restart_command(const Arguments& arguments, Screen& screen) {
  const RunView run = view_of(find_run(arguments.words()[0]));
  launch::AdminClient client = connect_to(run);
  RestartRequest request;
  request.node = arguments.words()[1];
  static_cast<void>(find_nodes(plan_of(run.place), request.node));  // throws if there is no node of this name
  const JsonValue answer = ask(client, to_json(request));
  if (arguments.has("json")) {
    JsonWriter json;
    json.begin_object();
    json.member("run", run.place.name);
    json.member("done", done_of(answer));
    json.end_object();
    screen.write(std::move(json).text() + "\n");
  } else {
    screen.write(Screen::clean(done_of(answer)) + "\n");
  }
  return code_of(Exit::done);
}

}  // namespace lp::tool
