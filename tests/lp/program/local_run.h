#pragma once
// A program whose nodes all run in this process, for tests below the launchers: starts every node, and waits for their
// reports. Owned by the test; one thread.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "lp/program/runtime.h"

namespace lp {

class LocalRun : public Runtime::Observer {
 public:
  static constexpr std::uint32_t kNothingHere = 0;  // instead of an incarnation: starts no node

  explicit LocalRun(const Program& program, Runtime::Options options = {}, std::uint32_t incarnation = 1)
      : program_(program), incarnation_(incarnation), runtime_(program, with_directory(std::move(options)), *this) {
    if (incarnation == kNothingHere) return;
    for (NodeId node = 0; node < program.nodes().size(); ++node) runtime_.start(node, incarnation);
    wait([this] { return ready_ + failed_.size() >= program_.nodes().size(); });
    for (const auto& [node, error] : failed_) ADD_FAILURE() << node << ": " << error.what();
    for (NodeId node = 0; node < program.nodes().size(); ++node) runtime_.run(node);
  }

  Runtime& runtime() { return runtime_; }
  template <class H>
  auto client(const H& handle) {
    return runtime_.client(handle);
  }
  NodeId id(const std::string& name) const { return *program_.find(name); }

  // Starts only this node, of those that are not here, after `others`.
  void start_one(const std::string& name, std::uint32_t incarnation, std::size_t others = 0) {
    runtime_.start(id(name), incarnation);
    wait([&] { return ready_ + failed_.size() > others; });
  }
  // Ends these nodes and starts a new incarnation of each, from `cut` if one is given, as a supervisor does.
  void restart(const std::vector<std::string>& names, const std::filesystem::path& cut = {}) {
    for (const std::string& name : names) runtime_.stop(id(name), "it is restarted");
    for (const std::string& name : names) EXPECT_TRUE(runtime_.join(id(name), after(std::chrono::seconds(20)))) << name;
    std::size_t up = 0;
    note([&] {
      up = ready_ + failed_.size() + names.size();
      for (const std::string& name : names) finished_.erase(id(name));
      ++incarnation_;
    });
    for (const std::string& name : names) runtime_.start(id(name), incarnation_, cut);
    wait([&] { return ready_ + failed_.size() >= up; });
    for (const std::string& name : names) runtime_.run(id(name));
  }
  // Calls `alive` in the node's answer to a probe, which holds the turn of its service.
  void probe(const std::string& name, Function<void()> alive) {
    note([&] { probes_.emplace(id(name), std::move(alive)); });
    runtime_.probe(id(name));
  }
  // From now on, nodes are not notified that their saves were handled.
  void hold_saves() { holds_saves_ = true; }
  // Waits until this many nodes have saved their part of the cut `step`.
  void wait_saved(std::uint64_t step, std::size_t nodes) {
    wait([&] { return static_cast<std::size_t>(std::count(saved_.begin(), saved_.end(), step)) >= nodes; });
  }

  // Waits until the nodes with run() have ended, in whatever way; if some groups end the program, only theirs.
  void wait_finished() {
    const auto ends = [this](const NodeSpec& node) { return program_.groups()[node.group].options.ends_program; };
    const bool some_end_it = std::any_of(program_.nodes().begin(), program_.nodes().end(), ends);
    std::set<NodeId> awaited;
    for (NodeId id = 0; id < program_.nodes().size(); ++id) {
      const NodeSpec& node = program_.nodes()[id];
      if (node.type->active && (!some_end_it || ends(node))) awaited.insert(id);
    }
    wait([&] {
      const auto finished = static_cast<std::size_t>(
          std::count_if(awaited.begin(), awaited.end(), [this](NodeId id) { return finished_.contains(id); }));
      return finished + failed_.size() >= awaited.size();
    });
  }
  // Waits until this many nodes have ended their run().
  void wait_ended(std::size_t nodes) {
    wait([&] { return finished_.size() >= nodes; });
  }
  // Waits until this many nodes have failed.
  void wait_failed(std::size_t nodes) {
    wait([&] { return failed_.size() >= nodes; });
  }
  void wait_failed(const std::string& node) {
    wait([&] { return failed_.count(node) > 0; });
  }
  std::map<std::string, Error> failed() {
    const std::lock_guard lock(mutex_);
    return failed_;
  }
  // The answers with which the node has finished.
  std::vector<NodeEvent::Answer> answers(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return answers_[id(name)];
  }
  std::string stop_reason() {
    const std::lock_guard lock(mutex_);
    return stop_reason_;
  }
  template <class Condition>
  void wait(Condition condition) {
    constexpr auto kSilence = std::chrono::seconds(20);  // a node that works reports its progress more often
    std::unique_lock lock(mutex_);
    while (!condition()) {
      lock.unlock();
      if (!news_.wait(after(kSilence))) {
        ADD_FAILURE() << "nothing more happens";
        return;
      }
      lock.lock();
    }
  }

  void on_event(NodeEvent event) override {
    std::visit([&](const auto& what) { handle(event.node, what); }, event.what);
  }

 private:
  // Makes the run's directory, as a launcher does.
  static Runtime::Options with_directory(Runtime::Options options) {
    if (!options.run.directory.empty()) std::filesystem::create_directories(options.run.directory);
    return options;
  }

  void handle(NodeId, const NodeEvent::Ready&) {
    note([this] { ++ready_; });
  }
  void handle(NodeId node, const NodeEvent::Finished& finished) {
    note([&] {
      finished_.insert(node);
      answers_[node] = finished.answers;
    });
  }
  void handle(NodeId node, const NodeEvent::Failed& failed) {
    note([&] { failed_.emplace(program_.nodes()[node].name, failed.error); });
  }
  void handle(NodeId, const NodeEvent::StopRequested& request) {
    note([&] { stop_reason_ = request.reason; });
  }
  void handle(NodeId, const Progress&) { news_.set(); }
  void handle(NodeId node, const NodeEvent::Saved& saved) {
    note([&] { saved_.push_back(saved.step); });
    if (!holds_saves_) runtime().may_save(node);
  }
  void handle(NodeId, const NodeEvent::NotSaved& not_saved) { ADD_FAILURE() << not_saved.text; }
  void handle(NodeId node, const NodeEvent::Alive&) {
    Function<void()> alive;
    note([&] { alive = std::move(probes_.extract(node).mapped()); });
    alive();
  }
  void handle(NodeId, const NodeEvent::Busy&) {}

  template <class F>
  void note(F f) {
    {
      const std::lock_guard lock(mutex_);
      f();
    }
    news_.set();
  }

  const Program& program_;
  std::mutex mutex_;
  Event news_;
  std::size_t ready_ = 0;
  std::set<NodeId> finished_;
  std::map<NodeId, std::vector<NodeEvent::Answer>> answers_;
  std::uint32_t incarnation_;
  std::map<std::string, Error> failed_;
  std::vector<std::uint64_t> saved_;
  std::string stop_reason_;
  std::map<NodeId, Function<void()>> probes_;
  std::atomic<bool> holds_saves_ = false;
  Runtime runtime_;  // last: it uses all of the above
};

}  // namespace lp
