#include "launchers/observation/usage_watch.h"

#include <algorithm>
#include <chrono>

#include "launchers/observation/waits_of_run.h"
#include "launchers/record/record_time.h"
#include "lp/program/plan.h"

namespace lp::launch {
namespace {

constexpr auto kShortestPeriod = std::chrono::milliseconds(100);
constexpr auto kLongestPeriod = std::chrono::seconds(1);
constexpr auto kPerProcess = std::chrono::milliseconds(20);  // in a period: a look costs each process a message
constexpr int kLooks = 4;                                    // in the first intervals
constexpr auto kShortestUse = std::chrono::seconds(1);       // between two questions for processors and calls
constexpr auto kLongestUse = std::chrono::minutes(1);
constexpr auto kSlowAnswerTime = std::chrono::seconds(5);  // with processes that are slow to answer
constexpr std::size_t kLongestName = 64;                   // characters of a text about a wait

// Looks are as far apart as intervals allow, and as rare as many processes need.
Duration period_of(double length, std::size_t processes) {
  const Duration least = std::max<Duration>(kShortestPeriod, kPerProcess * static_cast<int>(processes));
  return std::clamp<Duration>(from_seconds(length) / kLooks, least, std::max<Duration>(kLongestPeriod, least));
}

// About: the middle between the two powers of two of each bucket.
double seconds_in(const std::vector<std::uint64_t>& latency, std::uint64_t& timed) {
  double nanoseconds = 0;
  double bound = 1;
  for (const std::uint64_t count : latency) {
    nanoseconds += static_cast<double>(count) * bound * 0.75;
    timed += count;
    bound *= 2;
  }
  return nanoseconds / 1e9;
}

// The node at which a chain of waits ends, and its work, or what keeps it there.
std::pair<std::string, std::string> end_of(const Activity& last) {
  switch (last.end) {
    case Activity::End::sleeps: return {last.node, "sleeps"};
    case Activity::End::down: return {last.node, "is down"};
    case Activity::End::silent:
    case Activity::End::cut_off: return {last.node, "does not answer"};
    case Activity::End::nobody: return {last.node, "waits for a value"};
    default: break;
  }
  if (last.lacks_value) return {last.node, "waits for a value"};
  if (last.in_lp && !last.callee.empty()) return {last.callee, "a call on its way"};  // or its reply
  return {last.node, last.work};
}

// What a run() waits for itself.
std::string waits_for(const Activity& run, const Activity* next) {
  if (!run.callee.empty()) return run.callee;
  if (next != nullptr) return next->node == run.node ? "its own " + next->work : next->node;
  if (!run.in_lp || run.end == Activity::End::sleeps) return {};
  return run.does.substr(0, std::min(run.does.find(','), kLongestName));
}

}  // namespace

UsageWatch::UsageWatch(const Plan& plan, const SupervisionGraph& graph, std::optional<UsageRecord> earlier)
    : plan_(plan), graph_(graph), any_ends_(std::any_of(graph.groups.begin(), graph.groups.end(), [](const auto& one) {
        return one.ends_program;
      })) {
  for (const SupervisionGraph::Node& node : graph.nodes) record_.nodes.push_back(node.name);
  if (earlier.has_value() && earlier->nodes == record_.nodes) record_ = std::move(*earlier);
  for (UsageRecord::Edge& edge : record_.edges) edges_[{edge.caller, edge.callee}] = std::move(edge);
  for (const UsageRecord::Wait& wait : record_.waits) waits_[{wait.node, wait.waits_for}] = wait.looks;
  record_.edges.clear();
  record_.waits.clear();
  length_ = to_seconds(kShortestPeriod) * kLooks;
  for (const UsageRecord::Interval& one : record_.intervals) length_ = std::max(length_, one.end - one.begin);
  period_ = period_of(length_, graph.processes.size());
  now_ = {.begin = wall_seconds(), .nodes = std::vector<UsageRecord::NodeUse>(record_.nodes.size())};
}

void UsageWatch::advance(Function<std::vector<std::size_t>(Inquiry)> ask, Function<RunStatus()> status) {
  if (!passed(next_)) return;
  const bool complete = std::all_of(asked_.begin(), asked_.end(), [this](std::size_t one) {
    return parts_.contains(one) && parts_.at(one).waits.has_value();
  });
  next_ = after(period_);
  if (!complete && !passed(patience_)) return;
  if (looks_) end_look(status(), wall_seconds());
  looks_ = true;
  patience_ = after(kSlowAnswerTime);
  asked_ = ask(Inquiry::moment);
  if (!passed(next_use_)) return;
  next_use_ = after(std::clamp<Duration>(from_seconds(length_), kShortestUse, kLongestUse));
  ask(Inquiry::use);
}

void UsageWatch::on_measured(std::size_t process, const Measurement& part) {
  if (part.waits.has_value()) parts_[process].waits = part.waits;
  if (part.use.has_value()) take_use(process, *part.use);
  if (!part.calls.has_value()) return;
  for (const MeasureRecord::Calls& calls : *part.calls) take_calls(calls);
}

void UsageWatch::end_look(RunStatus status, double time) {
  const WaitsRecord record = waits_of_run(graph_, std::move(status), parts_);
  const WaitGraph graph = wait_graph(plan_, record);
  // A look that takes long stands for its whole time, as one at a process that is stopped: it has its own interval.
  if (now_.looks > 0 && time - now_.end > length_ / 2) end_interval();
  ++now_.looks;
  now_.end = time;
  parts_.clear();
  take_states(record.status, graph);
  take_waits(record.status, graph);
  if (now_.end - now_.begin >= length_) end_interval();
}

// An activity goes on if it waits for nothing: neither for another one, nor in lp, nor for its Future.
void UsageWatch::take_states(const RunStatus& status, const WaitGraph& graph) {
  enum class State : std::uint8_t { idle, waits, works, down };
  std::map<std::string, State> states;
  for (const Activity& one : graph.activities) {
    State& state = states[one.node];
    if (one.work.empty()) {
      state = State::down;
    } else if (!one.in_lp && !one.open && !one.next.has_value()) {
      state = std::max(state, State::works);
    } else if (one.end != Activity::End::sleeps && !one.open) {
      state = std::max(state, State::waits);
    }
  }
  for (NodeId node = 0; node < status.nodes.size(); ++node) {
    UsageRecord::NodeUse& use = now_.nodes[node];
    const NodeStatus& one = status.nodes[node];
    use.step = one.step;
    const bool up = one.state == NodeStatus::State::ready || one.state == NodeStatus::State::running ||
                    one.state == NodeStatus::State::finished;
    switch (up ? states[one.name] : State::down) {
      case State::idle: ++use.idle; break;
      case State::waits: ++use.waits; break;
      case State::works: ++use.works; break;
      case State::down: ++use.down; break;
    }
    if (const auto at = graph.queues.find(one.name); at != graph.queues.end()) use.queue += at->second;
  }
}

// The program waits for the run() of the groups that end it; where no group does, for every run().
bool UsageWatch::is_awaited(NodeId node, const RunStatus& status) const {
  return graph_.nodes[node].active && status.nodes[node].state == NodeStatus::State::running &&
         (!any_ends_ || graph_.groups[graph_.nodes[node].group].ends_program);
}

void UsageWatch::take_waits(const RunStatus& status, const WaitGraph& graph) {
  std::map<std::string, std::size_t> runs;
  for (std::size_t i = 0; i < graph.activities.size(); ++i) {
    if (graph.activities[i].work == "run()") runs.emplace(graph.activities[i].node, i);
  }
  std::vector<std::pair<std::string, const Activity*>> ends;  // by node: where its run() ends
  for (NodeId node = 0; node < status.nodes.size(); ++node) {
    const auto run = runs.find(status.nodes[node].name);
    if (run == runs.end()) continue;
    const std::vector<std::size_t> chain = graph.chain_of(run->second);
    const Activity& last = graph.activities[chain.back()];
    const std::string other =
        waits_for(graph.activities[run->second], chain.size() > 1 ? &graph.activities[chain[1]] : nullptr);
    if (!other.empty()) note_wait(run->first, other);
    const bool keeps_house = chain.size() == 1 && last.end == Activity::End::sleeps;
    if (is_awaited(node, status) && !keeps_house) ends.emplace_back(run->first, &last);
  }
  UsageRecord::Interval look{.begin = now_.begin, .end = now_.end};
  const double share = ends.empty() ? 0 : 1 / static_cast<double>(ends.size());
  for (const auto& [node, last] : ends) {
    const auto [place, work] = end_of(*last);
    UsageRecord::Interval one{.end = now_.end, .ends = {{place, work, share, place == node ? 0 : share}}};
    add_interval(look, one);
  }
  add_interval(now_, look);
}

void UsageWatch::note_wait(const std::string& node, const std::string& waits_for) {
  const std::pair key(node, waits_for);
  if (waits_.size() >= UsageRecord::kWaits && !waits_.contains(key)) {
    ++record_.left_out;
  } else {
    ++waits_[key];
  }
}

void UsageWatch::take_use(std::size_t process, const ProcessUse& use) {
  ProcessUse& last = used_[process];
  UsageRecord::NodeUse& node = now_.nodes[graph_.processes[process].nodes.front()];
  node.cpu += use.cpu >= last.cpu ? use.cpu - last.cpu : use.cpu;  // another process begins at zero
  node.memory = std::max(node.memory, use.memory);
  last = use;
}

void UsageWatch::take_calls(const MeasureRecord::Calls& calls) {
  MeasureRecord::Calls& last = counted_[{calls.caller, calls.callee, calls.method}];
  const MeasureRecord::Calls grown = calls_since(last, calls);
  last = calls;
  const std::pair key(calls.caller, calls.callee);
  if (edges_.size() >= UsageRecord::kEdges && !edges_.contains(key)) {
    ++record_.left_out;
    return;
  }
  UsageRecord::Edge& edge = edges_[key];
  edge.calls += grown.calls;
  edge.errors += grown.errors;
  edge.bytes += grown.bytes_sent + grown.bytes_received;
  edge.seconds += seconds_in(grown.latency, edge.timed);
}

void UsageWatch::end_interval() {
  record_.intervals.push_back(std::exchange(
      now_, {.begin = now_.end, .end = now_.end, .nodes = std::vector<UsageRecord::NodeUse>(record_.nodes.size())}));
  if (record_.intervals.size() < most_intervals(record_.nodes.size())) return;
  halve_intervals(record_);
  length_ *= 2;
  period_ = period_of(length_, graph_.processes.size());
}

UsageRecord UsageWatch::record() const {
  UsageRecord all = record_;
  if (now_.looks > 0) all.intervals.push_back(now_);
  for (const auto& [key, edge] : edges_) {
    all.edges.push_back(edge);
    all.edges.back().caller = key.first;
    all.edges.back().callee = key.second;
  }
  for (const auto& [key, looks] : waits_) all.waits.push_back({key.first, key.second, looks});
  return all;
}

}  // namespace lp::launch
