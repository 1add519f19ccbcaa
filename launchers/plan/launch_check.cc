#include "launchers/plan/launch_check.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "launchers/control/process_roles.h"
#include "launchers/http/http_address.h"
#include "launchers/os/relaunch_command.h"
#include "launchers/plan/agent_starter.h"
#include "launchers/plan/process_resources.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/base/text.h"
#include "lp/gpu/toolkit.h"
#include "lp/rpc/core/curve_keys.h"

namespace lp::launch {
namespace {

// The argument with which a launcher has started this process; empty: a person has started it.
std::string argument_of_launcher() {
  for (const std::string& word : own_command_line()) {
    if (word == kAgentFlag) return word;
    for (const std::string_view flag : {kNodeFlag, kAgentThereFlag, kDialFlag, kRelayFlag}) {
      if (word.starts_with(flag)) return word;
    }
  }
  return {};
}

void check_not_inside_run() {
  const std::string argument = argument_of_launcher();
  if (argument.empty()) return;
  throw Error(
      ErrorKind::failed,
      "this process, started with " + argument +
          ", is a process of a run, and cannot launch another run: main() must return what become_node_if_asked "
          "returns: `if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;`");
}

// A resumed run has a directory of its own, so that the earlier one stays as it was.
void check_directory(const LaunchOptions& options) {
  std::error_code none;
  if (options.resume.empty() || !std::filesystem::equivalent(options.resume, options.directory, none)) return;
  throw Error(ErrorKind::failed, options.directory.string() +
                                     " is the run that --resume continues, and a resumed run needs a directory of its "
                                     "own: leave --directory out, or give another one");
}

// Throws Error when nodes that compute on a GPU will see none. Those of other hosts find out when they begin.
void check_devices(const Launch& launch) {
  const std::vector<ProcessResources> needs = needs_of_processes(launch.plan);
  const bool some_have_gpus = std::any_of(needs.begin(), needs.end(), [](const auto& one) { return one.gpus > 0; });
  std::optional<std::string> obstacle;  // unknown
  for (const PlanNode& node : launch.plan.nodes) {
    const GroupOptions& group = launch.plan.groups[node.group].options;
    if (group.device != "cuda") continue;
    const Engine& engine = launch.options.engines->of(launch.choice.of_groups()[node.group]);
    if (engine.on_this_host()) {
      if (!obstacle) obstacle = gpu::obstacle_here();
      if (!obstacle->empty()) throw_failed(group.name + " computes on the device cuda, but " + *obstacle);
    }
    if (engine.agents() == nullptr || !some_have_gpus || needs[node.process].gpus > 0) continue;
    throw_failed(group.name +
                 " computes on the device cuda, but sees no GPU, because only other groups ask for some: " +
                 "give it `gpus`, too");
  }
}

}  // namespace

void check_launch(const Launch& launch) {
  check_options(*launch.program, launch.options);
  check_devices(launch);
  std::size_t hosts = 0;
  for (const Engine* engine : launch.choice.engines()) {
    engine->check(launch);
    if (engine->agents() != nullptr) hosts += engine->agents()->hosts(launch).size();
  }
  if (launch.engine().agents() == nullptr) return;
  check_not_inside_run();
  if (launch.options.path == Path::direct) {
    throw Error(ErrorKind::failed, "--path=direct: processes cannot call one another directly; use --launch=threads");
  }
  check_path(launch.options.path, hosts);
  static_cast<void>(is_loopback(launch.options.listen));  // throws for a malformed address
}

void check_path(Path path, std::size_t hosts) {
  if (path != Path::shm || hosts <= 1) return;
  throw Error(ErrorKind::failed, "--path=shm needs all nodes on one host, but the run has several hosts");
}

void check_whole_gpus(const Launch& launch, LaunchType type) {
  const std::vector<ProcessResources> needs = needs_of_processes(launch.plan);
  for (const PlanNode& node : launch.plan.nodes) {
    const double gpus = needs[node.process].gpus;
    if (launch.choice.of_groups()[node.group] != type || gpus == 0 || gpus >= 1) continue;
    throw_failed("the process of " + node.name + " asks for " + to_json(gpus) + " gpus, and the engine " +
                 std::string(type.name()) + " gives whole GPUs only: ask for 1, or colocate nodes that share one");
  }
}

void check_not_debugged(const Launch& launch) {
  if (launch.options.debug.empty()) return;
  throw Error(ErrorKind::failed, "a node can be debugged only on this host: use --launch=processes");
}

void check_options(const Program& program, const LaunchOptions& options) {
  std::vector<std::string> groups;
  for (const GroupSpec& group : program.groups()) groups.push_back(group.options.name);
  for (const std::string& name : options.idle) {
    if (std::find(groups.begin(), groups.end(), name) != groups.end()) continue;
    throw Error(ErrorKind::failed, "LaunchOptions::idle has " + quote(name) + ", but the program has no such group" +
                                       did_you_mean(name, groups));
  }
  if (options.heartbeat <= Duration::zero()) {
    throw Error(ErrorKind::failed, "LaunchOptions::heartbeat is " + duration_text(options.heartbeat) +
                                       ": it must be above 0, or every service would count as hanging");
  }
  check_directory(options);
  try {
    if (!options.metrics.empty()) read_http_address(options.metrics);
  } catch (const Error& error) {
    throw Error(error.kind(), "--metrics=" + options.metrics + ": " + error.text());
  }
  if (options.grace < Duration::zero()) {
    throw Error(ErrorKind::failed, "LaunchOptions::grace is " + duration_text(options.grace) +
                                       ": it must be 0, to kill nodes at once, or more");
  }
}

}  // namespace lp::launch
