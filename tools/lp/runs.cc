#include "tools/lp/runs.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <chrono>

#include "launchers/admin/admin_client.h"
#include "launchers/all_engines.h"
#include "launchers/observation/thread_text.h"
#include "launchers/os/thread_states.h"
#include "launchers/record/run_directory.h"
#include "launchers/record/run_recorder.h"
#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/json.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"
#include "tools/lp/command_error.h"
#include "tools/lp/run_text.h"

namespace lp::tool {
namespace {

constexpr auto kStatusTimeout = std::chrono::seconds(1);  // for an answer; after that the files are used

template <class T>
std::optional<T> read_record(const std::filesystem::path& path) {
  const auto document = read_document(path);
  if (!document.has_value()) return std::nullopt;
  try {
    return from_json<T>(*document);
  } catch (const Error& error) {
    throw CommandError(Exit::failed, path.string() + ": " + error.text());
  }
}

std::optional<ResultRecord> read_result(const RunLocation& place) {
  return read_record<ResultRecord>(place.directory / "result.json");
}

// The state of a silent run's job as its engine reports it. An engine that does not answer leaves it open.
Life life_of_job(RunView& run) {
  try {
    run.job = run.jobs->poll(run.record, run.place.directory);
  } catch (const Error& error) {
    run.job = launch::JobState{.reason = error.text()};
    return Life::elsewhere;
  }
  if (run.job->waits()) return Life::pending;
  if (!run.job->ended()) return Life::elsewhere;
  run.result = read_result(run.place);  // the engine may have kept it
  return run.result.has_value() ? Life::ended : Life::lost;
}

// Asks the run itself, because its files are a little behind.
Life life_of(RunView& run) {
  const bool ended = run.status.phase == Phase::ended && run.record.job.empty();  // a job may begin again
  if (run.result.has_value() || ended) return Life::ended;
  if (launch::AdminClient client(run.place.directory); client.open()) {
    const Time until = after(kStatusTimeout);
    client.ask(R"({"ask":"status"})", until);
    const auto answer = client.next(until);
    const JsonValue status = JsonValue::parse(answer.value_or("{\"error\":\"it does not answer\"}"));
    if (status.find("error") == nullptr) run.status = from_json<RunStatus>(status);
    run.silent = !answer.has_value();
    if (answer.has_value() || client.open()) return Life::live;
  }
  if (run.jobs != nullptr) return life_of_job(run);
  return run.record.host.empty() || run.record.host == launch::host_name() ? Life::lost : Life::elsewhere;
}

// The number of the job that was submitted.
std::string job_of(const RunLocation& place) {
  const std::string text = read_text(place.directory / launch::kJobNumber).value_or("");
  return text.substr(0, text.find_first_of(" \n"));
}

// Null: the run has no job, or its engine is not one of lp's.
const launch::Jobs* jobs_of(const RunRecord& record) {
  const launch::Engine* engine = launch::engines().find(record.launch);
  const launch::Jobs* jobs = engine == nullptr ? nullptr : engine->jobs();
  return jobs == nullptr || jobs->name_of(record).empty() ? nullptr : jobs;
}

std::string job_text(const RunView& run, const std::string& what) { return run.jobs->name_of(run.record) + " " + what; }

// Begins a sentence about a run that does not answer: how old its state is that the files have. Empty: nobody knows.
std::string age_of_files(const RunView& run) {
  struct stat file {};
  if (stat((run.place.directory / "status.json").c_str(), &file) != 0) return {};
  const auto written = std::chrono::seconds(file.st_mtim.tv_sec) + std::chrono::nanoseconds(file.st_mtim.tv_nsec);
  const auto age = std::chrono::nanoseconds(wall_clock()) - written;
  return "state of " + short_duration(std::max(to_seconds(age), 0.0)) + " ago: ";
}

// Why a launcher does not answer.
std::string silence_of(const RunView& run) {
  if (const std::string text = standstill_of(run); !text.empty()) return age_of_files(run) + text;
  return age_of_files(run) + "its launcher does not answer within " + duration_text(kStatusTimeout) +
         ": it may be overloaded";
}

// Why a run without a result is unreachable.
std::string loss_of(const RunView& run) {
  if (!run.job.has_value()) return "its launcher ended without writing a result, and so did its nodes";
  if (run.job->name.empty()) {
    return job_text(run, "is no longer known to " + std::string(run.jobs->engine()) + ", and left no result");
  }
  return job_text(run, "ended as " + run.job->name + run.job->why() + ", and left no result");
}

// The last status of a launcher that is gone does not know that its nodes have ended with it.
void end_nodes(RunStatus& status) {
  using State = NodeStatus::State;
  for (NodeStatus& node : status.nodes) {
    if (node.state != State::failed && node.state != State::finished) node.state = State::ended;
    node.pid = 0;
    node.work.clear();
  }
}

}  // namespace

std::vector<RunLocation> all_runs() {
  try {
    return launch::all_runs();
  } catch (const Error& error) {
    throw CommandError(Exit::failed, error.text());
  }
}

RunLocation find_run(const std::string& given) {
  try {
    return launch::find_run(given);
  } catch (const Error& error) {
    throw CommandError(Exit::unknown, error.text());
  }
}

std::optional<std::string> read_text(const std::filesystem::path& path) {
  try {
    return read_text_if_any(path, kLargestRecord);
  } catch (const Error& error) {
    throw CommandError(Exit::failed, error.text());
  }
}

std::optional<JsonValue> read_document(const std::filesystem::path& path) {
  const auto text = read_text(path);
  if (!text.has_value()) return std::nullopt;
  try {
    return JsonValue::parse(*text);
  } catch (const Error& error) {
    throw CommandError(Exit::failed, path.string() + ": " + error.text());
  }
}

RunView view_of(const RunLocation& place) {
  RunView run{.place = place};
  if (!launch::is_run(place.directory))
    throw CommandError(Exit::unknown, place.directory.string() + " does not contain a run");
  run.record = read_record<RunRecord>(place.directory / "run.json").value_or(RunRecord());
  if (run.record.job.empty()) run.record.job = job_of(place);  // the job has not begun yet
  run.jobs = jobs_of(run.record);
  run.status = read_record<RunStatus>(place.directory / "status.json").value_or(RunStatus());
  run.result = read_result(place);
  run.life = life_of(run);
  if (run.life == Life::lost) {  // it may have ended during this check
    run.result = read_result(place);
    run.status = read_record<RunStatus>(place.directory / "status.json").value_or(RunStatus());
    run.life = life_of(run);
  }
  if (run.life == Life::lost) end_nodes(run.status);
  return run;
}

std::string state_of(const RunView& run) {
  switch (run.life) {
    case Life::pending: return "pending";
    case Life::live: return run.silent ? "no answer" : std::string(enum_name(run.status.phase));
    case Life::lost: break;
    case Life::elsewhere:
      return run.jobs == nullptr ? "on " + run.record.host : run.jobs->place_of(run.record, *run.job);
    case Life::ended: break;
  }
  if (run.life == Life::lost) {
    if (!run.job.has_value() || run.job->name.empty()) return "launcher gone";
    // `lp stop` ends a job this way
    if (run.job->name == "FAILED" && run.job->code == RunResult::kStopped) return "stopped";
    std::string name = run.job->name;
    for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return name;
  }
  if (!run.result.has_value()) return "ended";
  return run.result->success ? "succeeded" : run.result->cause.what.empty() ? "stopped" : "failed";
}

std::string outcome_of(const RunView& run) {
  switch (run.life) {
    case Life::pending: return job_text(run, "waits" + run.job->why());
    case Life::live: return run.silent ? silence_of(run) : std::string();
    case Life::lost: return loss_of(run);
    case Life::elsewhere:
      if (run.jobs == nullptr) return "its launcher is on " + run.record.host;
      return run.job->name.empty() ? run.job->reason : job_text(run, run.jobs->activity_of(run.record, *run.job));
    case Life::ended: break;
  }
  if (!run.result.has_value()) return "it left no result";
  const Cause& cause = run.result->cause;
  if (!cause.what.empty()) return (cause.node.empty() ? "" : cause.node + ": ") + cause.what;
  const std::string& by = run.result->stopped_by;
  return by.empty() ? run.result->reason : stop_text(by, run.result->reason);
}

std::string standstill_of(const RunView& run) {
  const RunRecord& launcher = run.record;
  if (launcher.host != launch::host_name()) return {};
  const std::vector<launch::ThreadState> threads = launch::thread_states(launcher.pid);
  if (threads.empty()) return {};
  if (threads.front().state == "T") {
    return "its launcher is suspended: `kill -CONT " + std::to_string(launcher.pid) + "` lets it go on";
  }
  const auto blocked = std::find_if(threads.begin(), threads.end(),
                                    [](const launch::ThreadState& thread) { return thread.state == "D"; });
  return blocked == threads.end() ? std::string()
                                  : "its launcher is blocked in " + launch::place_of(*blocked) + ", for a device";
}

std::string sentence_of(const RunView& run) {
  if (run.life == Life::live && !run.silent) return "it is " + state_of(run);
  if (run.life != Life::ended) return outcome_of(run);
  if (!run.result.has_value()) return "it has ended, and left no result";
  const std::string state = state_of(run);
  return (state == "stopped" ? "it was stopped " : "it " + state + ": ") + outcome_of(run);
}

}  // namespace lp::tool
