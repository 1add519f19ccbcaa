#pragma once
// A coordinator whose executor and listener only record their calls, for tests that report events of its nodes. One
// thread.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "launchers/supervisor/coordinator.h"
#include "tests/launchers/supervisor/fake_executor.h"

namespace lp::launch {

// A server that two workers call; each is a process of its own. Node ids: server 0, worker/0 1, worker/1 2.
inline SupervisionGraph server_and_workers(FailurePolicy policy = stop_program()) {
  SupervisionGraph graph;
  graph.groups = {{.name = "server", .on_failure = policy}, {.name = "worker", .on_failure = policy}};
  graph.nodes = {{.name = "server", .group = 0, .process = 0},
                 {.name = "worker/0", .group = 1, .process = 1, .active = true, .calls = {0}},
                 {.name = "worker/1", .group = 1, .process = 2, .active = true, .calls = {0}}};
  return graph;
}

class CoordinatorTest : public testing::Test {
 protected:
  void make(SupervisionGraph graph, Coordinator::Options options = {}) {
    graph_ = std::move(graph);
    graph_.complete();
    executor_.emplace(graph_);
    coordinator_.emplace(graph_, std::move(options), *executor_, listener_);
  }
  void start(RestorePoint cut = {}) {
    coordinator_->start(std::move(cut), now_);
    coordinator_->flush();
  }
  void report(NodeId node, std::uint32_t incarnation, NodeEvent::What what) {
    coordinator_->on_event({.node = node, .incarnation = incarnation, .what = std::move(what)});
  }
  void ready(NodeId node, std::uint32_t incarnation = 1) {
    report(node, incarnation, NodeEvent::Ready{"endpoint-" + std::to_string(node)});
  }
  void finished(NodeId node, std::uint32_t incarnation) { report(node, incarnation, NodeEvent::Finished{}); }
  void failed(NodeId node, std::uint32_t incarnation, const Error& error) {
    report(node, incarnation, NodeEvent::Failed{error});
  }
  void stop_requested(NodeId node, std::uint32_t incarnation, const std::string& reason) {
    report(node, incarnation, NodeEvent::StopRequested{reason});
  }
  void saved(NodeId node, std::uint32_t incarnation, std::uint64_t step) {
    report(node, incarnation, NodeEvent::Saved{step});
  }
  void not_saved(NodeId node, std::uint32_t incarnation, std::uint64_t step, const std::string& text) {
    report(node, incarnation, NodeEvent::NotSaved{step, text});
  }
  void alive(NodeId node, std::uint32_t incarnation) { report(node, incarnation, NodeEvent::Alive{}); }
  void busy(NodeId node, std::uint32_t incarnation, const std::string& work, Duration age) {
    report(node, incarnation, NodeEvent::Busy{work, age});
  }
  void all_ready() {
    start();
    for (NodeId node = 0; node < graph_.nodes.size(); ++node) ready(node);
    coordinator_->flush();
    executor_->take();
  }
  void pass(Duration time) {
    now_ += time;
    coordinator_->advance(now_);
    coordinator_->flush();
  }
  std::string commands() {
    coordinator_->flush();
    return executor_->take();
  }
  void exit(std::size_t process, ExitStatus status = {}, std::uint32_t incarnation = 1) {
    coordinator_->on_exited(process, incarnation, status);
  }
  void all_exit() {
    for (std::size_t process = 0; process < graph_.processes.size(); ++process) exit(process);
  }

  SupervisionGraph graph_;
  FakeListener listener_;
  std::optional<FakeExecutor> executor_;
  std::optional<Coordinator> coordinator_;
  Time now_{};
};

}  // namespace lp::launch
