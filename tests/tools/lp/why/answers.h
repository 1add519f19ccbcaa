#pragma once
// The answers of an invented run, for tests of lp why.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/lp/why/diagnosis.h"

namespace lp::test {

// worker/0, worker/1, worker/2 ──▶ server ──▶ log, a process each.
struct Answers {
  tool::Evidence evidence{};

  Answers() {
    Plan& plan = evidence.plan;
    plan.groups = {{.first = 0, .size = 1}, {.first = 1, .size = 1}, {.first = 2, .size = 3}};
    plan.nodes = {{.name = "log", .group = 0},
                  {.name = "server", .group = 1, .calls = {0}},
                  {.name = "worker/0", .group = 2, .calls = {1}},
                  {.name = "worker/1", .group = 2, .calls = {1}},
                  {.name = "worker/2", .group = 2, .calls = {1}}};
    WaitsRecord& sample = evidence.samples.emplace_back();
    int pid = 100;
    for (const PlanNode& node : plan.nodes) {
      sample.status.nodes.push_back({.name = node.name, .state = NodeStatus::State::running, .incarnation = 1});
      sample.processes.push_back({.nodes = {node.name},
                                  .host = "h" + std::to_string(pid - 99),
                                  .pid = pid,
                                  .waits = ProcessWaits{.nodes = {{.node = node.name}}},
                                  .threads = std::vector<launch::ThreadState>()});
      ++pid;
    }
  }

  WaitsRecord& sample() { return evidence.samples.back(); }
  WaitsRecord::Process& process(std::size_t node) { return sample().processes[node]; }
  NodeWaits& node(std::size_t node) { return process(node).waits->nodes.front(); }

  // The node's run() is in this thread, which waits for a call.
  void run_waits(std::size_t id, const std::string& callee, const std::string& method, std::uint64_t chain) {
    node(id).run_thread = 1;
    node(id).threads.push_back(
        {.thread = 1, .callee = callee, .method = method, .call_chain = chain, .seconds = 5, .left = 25.0});
    process(id).waits->calls.push_back({.caller = node(id).node, .callee = callee, .method = method, .chain = chain});
  }
  // A handler has the turn, in thread 7, which is in this state.
  void handler(std::size_t id, const std::string& work, const std::string& caller, std::uint64_t chain,
               launch::ThreadState state) {
    node(id).turn = {.work = work, .caller = caller, .chain = chain, .thread = 7, .seconds = 5};
    state.id = 7;
    process(id).threads->push_back(std::move(state));
  }

  std::vector<tool::Diagnosis> diagnose() {
    evidence.samples.push_back(evidence.samples.back());
    return tool::diagnose(evidence);
  }
};

}  // namespace lp::test
