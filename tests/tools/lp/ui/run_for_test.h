#pragma once
// For tests of the page of lp ui: a run that has ended, and a reader of lines. Owned by the test; one thread.

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "launchers/record/records.h"
#include "lp/base/json.h"
#include "lp/base/json_value.h"
#include "tools/lp/runs.h"
#include "tools/lp/ui/line_sink.h"

namespace lp::test {

// Three workers that call a server, and their states.
inline tool::RunLocation leave_run_for_page(const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory / "logs/worker");
  std::ofstream(directory / "plan.json") << R"({"program":"training","fingerprint":"0","processes":4,"groups":[
    {"name":"server","type":"a::Server","replicas":1},{"name":"worker","type":"a::Worker","replicas":3,"active":true}],
    "nodes":[{"name":"server","group":"server","process":0},
    {"name":"worker/0","group":"worker","index":0,"process":1,"calls":["server"]},
    {"name":"worker/1","group":"worker","index":1,"process":2,"calls":["server"]},
    {"name":"worker/2","group":"worker","index":2,"process":3,"calls":["server"]}]})";
  const std::string name = directory.filename();
  std::ofstream(directory / "run.json") << to_json(
      RunRecord{.run = name, .program = "training", .launch = "processes"});
  RunStatus status{.run = name, .phase = Phase::ended};
  for (const char* node : {"server", "worker/0", "worker/1", "worker/2"}) {
    status.nodes.push_back({.name = node, .state = NodeStatus::State::ended});
  }
  std::ofstream(directory / "status.json") << to_json(status);
  std::ofstream(directory / "result.json") << to_json(ResultRecord{.success = true, .reason = "done", .seconds = 5});
  std::ofstream(directory / "events.log") << to_json(RunEvent{.time = 1, .node = "server", .text = "<b>"}) + "\n"
                                          << "this is no event\n"
                                          << to_json(RunEvent{.time = 2, .kind = RunEvent::Kind::ended}) + "\n";
  return {name, directory};
}

// Keeps the lines. It leaves when it has a line with a member of the name `last`, and when it has to wait.
class KeptLines : public tool::LineSink {
 public:
  explicit KeptLines(std::string last = "") : last_(std::move(last)) {}

  bool write(std::string line) override {
    if (!line.empty()) lines_.push_back(JsonValue::parse(line));
    return last_.empty() || at(last_).kind() == JsonValue::Kind::null;
  }
  bool wait(Duration) override { return false; }

  std::size_t size() const { return lines_.size(); }
  // The member of this name of the first line that has it.
  const JsonValue& at(const std::string& name) const {
    for (const JsonValue& line : lines_) {
      if (const JsonValue* found = line.find(name)) return *found;
    }
    static const JsonValue kNone;
    return kNone;
  }

 private:
  const std::string last_;
  std::vector<JsonValue> lines_{};
};

}  // namespace lp::test
