#include "tools/lp/views/run_logs.h"

#include <set>

#include "launchers/record/node_output.h"
#include "tools/lp/command_error.h"
#include "tools/lp/plan_file.h"
#include "tools/lp/run_requests.h"

namespace lp::tool {

RunLogs::RunLogs(const RunView& run, std::span<const std::string> nodes, bool follow) {
  const Plan plan = plan_of(run.place);
  if (run.record.launch == "threads") {
    throw CommandError(
        Exit::failed,
        run.place.name + " has no logs: its nodes are threads, whose output goes to the output of their launcher");
  }
  std::vector<bool> wanted(plan.processes, nodes.empty());
  for (const std::string& name : nodes) {
    for (const NodeId node : find_nodes(plan, name)) wanted[plan.nodes[node].process] = true;
  }
  const bool here = run.life != Life::elsewhere || std::filesystem::exists(run.place.directory / "status.json");
  if (here && run.jobs != nullptr && run.jobs->keeps_files()) {
    throw CommandError(Exit::not_live, run.place.name +
                                           ": its logs were on the host of its coordinator, which has ended; " +
                                           "to see the output of a run, launch it without --submit");
  }
  if (here) {
    live_.emplace(follow ? try_to_connect(run) : launch::AdminClient(run.place.directory));
  } else {
    mirror_.emplace(connect_to(run));
  }
  directory_ = mirror_.has_value() ? mirror_->directory() : run.place.directory;
  std::set<std::size_t> added;
  for (const PlanNode& node : plan.nodes) {  // the first node of a process gives its log the name
    if (!wanted[node.process] || !added.insert(node.process).second) continue;
    const std::filesystem::path log = "logs" / launch::NodeOutput::log_name(node.name);
    if (mirror_.has_value()) mirror_->add(log);
    logs_.push_back({node.name, LogReader(directory_ / log)});
  }
}

bool RunLogs::update() {
  if (mirror_.has_value()) return mirror_->update();
  while (live_->open() && live_->next(Time()).has_value()) {
  }
  return live_->open();
}

}  // namespace lp::tool
