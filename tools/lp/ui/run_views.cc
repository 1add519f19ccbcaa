#include "tools/lp/ui/run_views.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "launchers/record/saved_curves.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "tools/lp/command_error.h"
#include "tools/lp/plan_file.h"
#include "tools/lp/run_requests.h"
#include "tools/lp/run_text.h"
#include "tools/lp/saved_checkpoints.h"
#include "tools/lp/ui/picture.h"
#include "tools/lp/why/gather.h"

namespace lp::tool {
namespace {

constexpr auto kLooking = std::chrono::seconds(1);       // the time that `lp why` looks
constexpr auto kEngineAnswer = std::chrono::seconds(5);  // an answer of an engine holds so long

void write_summary(JsonWriter& json, const RunView& run, const std::string& trouble) {
  json.begin_object();
  json.member("name", run.place.name);
  json.member("program", run.record.program);
  json.member("launch", run.record.launch);
  json.member("host", run.record.host);
  json.member("state", trouble.empty() ? state_of(run) : "unreadable");
  json.member("life", run.life);
  json.member("outcome", trouble.empty() ? outcome_of(run) : trouble);
  json.member("began", run.record.began);
  json.member("seconds", run.result.has_value() ? run.result->seconds : 0);
  json.member("ready", is_over(run) ? std::string() : ready_text(run.status));
  json.member("nodes", run.status.nodes.size());
  json.end_object();
}

// Every so many points, so that few enough are left; the last one always.
void write_points(JsonWriter& json, const std::vector<SavedPoint>& points) {
  const std::size_t stride = (points.size() + kCurvePoints - 1) / kCurvePoints;
  json.begin_array();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i % stride != 0 && i + 1 != points.size()) continue;
    json.begin_array();
    json.number(points[i].step);
    json.number(points[i].value);
    json.number(points[i].time);
    json.end_array();
  }
  json.end_array();
}

}  // namespace

std::string RunList::json() {
  std::string text;
  std::set<std::string> present;
  for (const RunLocation& place : all_runs()) {
    text += (text.empty() ? "" : ",") + entry_of(place);
    present.insert(place.directory);
  }
  const std::scoped_lock lock(mutex_);
  std::erase_if(entries_, [&](const auto& entry) { return !present.contains(entry.first); });
  return "{\"runs\":[" + text + "]}";
}

std::string RunList::entry_of(const RunLocation& place) {
  std::error_code none;
  const auto written = std::filesystem::last_write_time(place.directory / "result.json", none);
  {
    const std::scoped_lock lock(mutex_);
    const auto known = entries_.find(place.directory);
    if (known != entries_.end() && known->second.written == written && !passed(known->second.until)) {
      return known->second.json;
    }
  }
  RunView run{.place = place};
  std::string trouble;
  try {
    run = view_of(place);
  } catch (const CommandError& error) {  // one run is unreadable; the others are shown
    trouble = error.what();
  }
  JsonWriter json;
  write_summary(json, run, trouble);
  std::string text = std::move(json).text();
  const bool final = run.life == Life::ended && run.jobs == nullptr && trouble.empty();
  const Time until = final ? kNever : run.life == Life::live ? Time() : after(kEngineAnswer);
  const std::scoped_lock lock(mutex_);
  entries_[place.directory] = {text, written, until};
  return text;
}

std::string run_json(const RunLocation& place, bool read_only) {
  const RunView run = view_of(place);
  const Plan plan = plan_of(place);
  JsonWriter json;
  json.begin_object();
  json.member("name", place.name);
  json.member("directory", place.directory.string());
  json.member("read_only", read_only);
  json.member("record", run.record);
  json.member("has_logs", run.record.launch != "threads");
  json.key("nodes");
  json.begin_array();
  for (const PlanNode& node : plan.nodes) json.string(node.name);
  json.end_array();
  write_picture(json, plan);
  json.end_object();
  return std::move(json).text();
}

std::string checkpoints_json(const RunLocation& place) {
  const SavedList list = list_saved(place.name);
  JsonWriter json;
  json.begin_object();
  json.key("checkpoints");
  json.begin_array();
  for (const Saved& saved : list.all) {
    json.begin_object();
    json.member("step", saved.step);
    json.member("path", saved.path.string());
    json.key("files");
    json.begin_array();
    for (const SavedFile& file : saved.files) {
      json.begin_object();
      json.member("node", file.node);
      json.member("bytes", file.bytes);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.member("problems", list.problems);
  json.end_object();
  return std::move(json).text();
}

std::string why_json(const RunLocation& place) {
  const RunView run = view_of(place);
  launch::AdminClient client = connect_to(run);
  const Evidence evidence = collect_evidence(client, plan_of(place), kLooking);
  const std::vector<Diagnosis> found = find_troubles(client, evidence);
  std::set<std::string> all;
  for (const PlanNode& node : evidence.plan.nodes) all.insert(node.name);
  JsonWriter json;
  json.begin_object();
  write_findings(json, wait_graph(evidence.plan, evidence.samples.back()), found, all);
  json.end_object();
  return std::move(json).text();
}

std::string curves_json(const RunLocation& place) {
  JsonWriter json;
  json.begin_object();
  json.key("curves");
  json.begin_array();
  for (const auto& [node, curves] : launch::read_curves(place.directory)) {
    for (const auto& [name, points] : curves) {
      json.begin_object();
      json.member("node", node);
      json.member("name", name);
      json.key("points");
      write_points(json, points);
      json.end_object();
    }
  }
  json.end_array();
  json.end_object();
  return std::move(json).text();
}

}  // namespace lp::tool
