#pragma once
// An Executor that only records its commands, and a Listener that only records its notifications.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "launchers/control/measurement.h"
#include "launchers/supervisor/coordinator.h"
#include "lp/base/enums.h"
#include "lp/base/error.h"

namespace lp::launch {

struct FakeExecutor final : Executor {
  explicit FakeExecutor(const SupervisionGraph& graph) : graph_(graph) {}

  std::string make_key(std::size_t) override { return keyed ? "key-" + std::to_string(++keys_) : std::string(); }
  std::string place(std::size_t process, bool needed) override {
    const bool has = placed_.contains(process);
    if (!has && !needed && placed_.size() >= slots) return "all slots are in use";
    placed_.insert(process);
    return {};
  }
  void release(std::size_t process) override { placed_.erase(process); }
  std::string delay(std::size_t) override { return delayed; }
  void start(std::size_t process, std::uint32_t incarnation, const std::filesystem::path& cut) override {
    note("start " + name(process) + " " + std::to_string(incarnation) + (cut.empty() ? "" : " from " + cut.string()));
  }
  void update(std::size_t process, std::span<const PeerState> peers) override {
    for (const PeerState& peer : peers) {
      epoch = std::max(epoch, peer.epoch);
      note("tell " + name(process) + ": " + graph_.nodes[peer.node].name + " " + std::to_string(peer.incarnation) +
           (peer.gone               ? " gone"
            : peer.endpoint.empty() ? " down"
                                    : " at " + peer.endpoint) +
           (peer.key.empty() ? "" : " with " + peer.key));
    }
  }
  void order(NodeId node, NodeOrder what) override {
    note((what == NodeOrder::may_save ? "may save" : std::string(enum_name(what))) + " " + graph_.nodes[node].name);
  }
  void stop(std::size_t process, const std::string&, bool) override { note("stop " + name(process)); }
  void end_cut(std::size_t process, std::uint64_t step, bool complete) override {
    note("end cut " + name(process) + (complete ? " complete " : " given up ") + std::to_string(step));
  }
  void kill(std::size_t process) override { note("kill " + name(process)); }
  void measure(std::span<const std::size_t> processes, Inquiry) override {
    note("measure " + std::to_string(processes.size()));
  }
  void record_spans(std::span<const std::size_t> processes, const SpanOrder&) override {
    note("record " + std::to_string(processes.size()));
  }
  void abandon(const std::string&) override { note("abandon"); }

  bool keyed = false;       // processes have keys
  std::string delayed{};    // why processes wait
  std::size_t slots = 9;    // for processes of elastic groups
  std::uint64_t epoch = 0;  // the newest that was announced

  // The commands since the last call, one in each line.
  std::string take() { return std::exchange(log_, {}); }

 private:
  const std::string& name(std::size_t process) const { return graph_.processes[process].name; }
  void note(const std::string& line) { log_ += line + "\n"; }

  const SupervisionGraph& graph_;
  std::string log_;
  int keys_ = 0;
  std::set<std::size_t> placed_;
};

struct FakeListener final : Coordinator::Listener {
  void on_phase(Phase phase) override { phases.push_back(phase); }
  void begin_report() override { ++reports; }
  void on_peers(std::span<const PeerState> peers) override { told += peers.size(); }
  RestorePoint on_cut_saved(std::uint64_t step, const std::set<NodeId>& members) override {
    if (disk_full) throw Error(ErrorKind::failed, "no space left on device");
    return RestorePoint{step, "cut-" + std::to_string(step), members};
  }
  void on_cut_given_up(std::uint64_t step) override { given_up.push_back(step); }
  void on_cut_failed(const std::string& text) override { logged.push_back(text); }
  void add_origin(std::size_t, Cause& cause) override { cause.last_lines = {"last words"}; }
  void log(const std::string& line) override { logged.push_back(line); }
  void on_measured(std::size_t, Measurement) override {}
  void on_ended(std::size_t, int) override {}
  void on_event(RunEvent event) override { events.push_back(std::move(event)); }
  void on_progress(NodeId, const Progress&) override {}

  std::vector<Phase> phases;
  std::vector<std::string> logged;
  std::vector<RunEvent> events;
  std::vector<std::uint64_t> given_up;
  std::size_t told = 0;
  int reports = 0;
  bool disk_full = false;
};

}  // namespace lp::launch
