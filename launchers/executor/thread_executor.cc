#include "launchers/executor/thread_executor.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "launchers/control/measurement.h"
#include "launchers/control/spans_record.h"
#include "launchers/os/run_command.h"
#include "launchers/os/stacks.h"
#include "lp/base/error.h"

namespace lp::launch {
namespace {
constexpr auto kKillTimeout = std::chrono::seconds(1);  // for a node that is killed without an earlier stop
// the ender waits so long for one node before it checks the others
constexpr auto kJoinPeriod = std::chrono::milliseconds(5);
}  // namespace

struct ThreadExecutor::Ender {
  std::mutex mutex;
  std::vector<Ending> added;
  std::vector<std::pair<std::size_t, Time>> deadlines;  // new deadlines, by process
  bool closing = false;
  Event work;
  Function<void(const Ending&)> ended;  // the ender's thread calls it

  void serve(Runtime& runtime) {
    std::vector<Ending> endings;
    for (;;) {
      {
        const std::lock_guard lock(mutex);
        std::move(added.begin(), added.end(), std::back_inserter(endings));
        added.clear();
        for (const auto& [process, deadline] : deadlines) {
          for (Ending& ending : endings) {
            if (ending.process == process) ending.deadline = std::min(ending.deadline, deadline);
          }
        }
        deadlines.clear();
        if (closing) return;
      }
      const std::size_t before = endings.size();
      std::erase_if(endings, [&](Ending& ending) { return is_over(runtime, ending); });
      if (endings.empty()) {
        work.wait();
      } else if (endings.size() == before) {
        runtime.join(endings.front().nodes.front(), std::min(after(kJoinPeriod), endings.front().deadline));
        std::rotate(endings.begin(), endings.begin() + 1, endings.end());
      }
    }
  }

  bool is_over(Runtime& runtime, Ending& ending) {
    const bool late = now() >= ending.deadline;
    std::erase_if(ending.nodes, [&](NodeId node) {
      if (runtime.join(node, now())) return true;
      if (!late) return false;
      runtime.abandon(node);
      ending.abandoned = true;
      return true;
    });
    if (!ending.nodes.empty()) return false;
    const std::lock_guard lock(mutex);
    if (!closing) ended(ending);
    return true;
  }
};

ThreadExecutor::ThreadExecutor(const SupervisionGraph& graph, Placer placer, EventLoop& loop)
    : graph_(graph),
      placer_(std::move(placer)),
      loop_(loop),
      incarnations_(graph.processes.size()),
      stopping_(graph.processes.size()),
      ender_(std::make_shared<Ender>()) {}

ThreadExecutor::~ThreadExecutor() { close(); }

bool ThreadExecutor::close() {
  {
    const std::lock_guard lock(ender_->mutex);
    ender_->closing = true;
  }
  ender_->work.set();
  if (!thread_.join_until(after(kKillTimeout))) {
    thread_.abandon();
    left_behind_ = true;
  }
  return !left_behind_;
}

void ThreadExecutor::attach(Runtime& runtime, ExecutorEvents& events) {
  runtime_ = &runtime;
  events_ = &events;
  ender_->ended = [this](const Ending& ending) {
    loop_.post([this, process = ending.process, incarnation = ending.incarnation, abandoned = ending.abandoned] {
      events_->on_exited(process, incarnation, {.abandoned = abandoned});
    });
  };
  thread_ = spawn("ender", [ender = ender_, &runtime] { ender->serve(runtime); });
}

void ThreadExecutor::start(std::size_t process, std::uint32_t incarnation, const std::filesystem::path& cut) {
  incarnations_[process] = incarnation;
  stopping_[process] = false;
  for (const NodeId node : graph_.processes[process].nodes) {
    try {
      runtime_->start(node, incarnation, graph_.nodes[node].member ? cut : std::filesystem::path());
    } catch (const Error& error) {  // no thread is left
      on_event({.node = node, .incarnation = incarnation, .what = NodeEvent::Failed{error}});
    }
  }
}

// Nodes of this process already know which nodes are up. They do not know which members of a group are present.
void ThreadExecutor::update(std::size_t, std::span<const PeerState> peers) {
  std::vector<PeerState> news;
  std::copy_if(peers.begin(), peers.end(), std::back_inserter(news),
               [](const PeerState& one) { return one.epoch > 0; });
  if (!news.empty()) runtime_->update(news);
}

void ThreadExecutor::order(NodeId node, NodeOrder what) {
  switch (what) {
    case NodeOrder::run: return runtime_->run(node);
    case NodeOrder::may_save: return runtime_->may_save(node);
    case NodeOrder::probe: return runtime_->probe(node);
  }
}

void ThreadExecutor::end_cut(std::size_t, std::uint64_t step, bool complete) { runtime_->end_cut(step, complete); }

void ThreadExecutor::stop(std::size_t process, const std::string& reason, bool run_ends) {
  if (run_ends) runtime_->end_run();
  if (stopping_[process]) return;
  stopping_[process] = true;
  for (const NodeId node : graph_.processes[process].nodes) runtime_->stop(node, reason);
  end({.process = process, .incarnation = incarnations_[process], .nodes = graph_.processes[process].nodes});
}

void ThreadExecutor::kill(std::size_t process) {
  const Time deadline = stopping_[process] ? now() : after(kKillTimeout);
  stop(process, "it is replaced", false);
  {
    const std::lock_guard lock(ender_->mutex);
    ender_->deadlines.emplace_back(process, deadline);
  }
  ender_->work.set();
}

void ThreadExecutor::end(Ending ending) {
  {
    const std::lock_guard lock(ender_->mutex);
    ender_->added.push_back(std::move(ending));
  }
  ender_->work.set();
}

void ThreadExecutor::measure(std::span<const std::size_t> processes, Inquiry what) {
  switch (what) {
    case Inquiry::use: return measure_use(processes);
    case Inquiry::waits: return measure_waits(processes, thread_states(getpid()));
    case Inquiry::moment: return measure_waits(processes, std::nullopt);
    case Inquiry::stacks:
      if (!processes.empty()) take_stacks(processes.front());
      break;
    case Inquiry::spans: break;  // record_spans
  }
}

// All nodes share the threads of this process, so the first answer has them, and the calls.
void ThreadExecutor::measure_waits(std::span<const std::size_t> processes,
                                   std::optional<std::vector<ThreadState>> threads) {
  ProcessWaits all = runtime_->waits(threads.has_value() ? ProcessWaits::kMost : ProcessWaits::kFew);
  std::map<std::string, NodeWaits> nodes;
  for (NodeWaits& node : all.nodes) nodes[node.node] = std::move(node);
  std::vector<OpenCall> calls = std::move(all.calls);
  for (const std::size_t process : processes) {
    ProcessWaits waits{.calls = std::exchange(calls, {})};
    for (const NodeId node : graph_.processes[process].nodes) {
      if (const auto at = nodes.find(graph_.nodes[node].name); at != nodes.end()) waits.nodes.push_back(at->second);
    }
    events_->on_measured(process, incarnations_[process], {.waits = std::move(waits), .threads = threads});
    if (threads.has_value()) threads->clear();
  }
}

// All nodes share the recorder of this process, so the first answer has everything.
void ThreadExecutor::record_spans(std::span<const std::size_t> processes, const SpanOrder& order) {
  for (const std::size_t process : processes) {
    std::string spans = carry_out(order, runtime_->spans());
    if (!order.ends) events_->on_measured(process, incarnations_[process], {.spans = std::move(spans)});
  }
}

void ThreadExecutor::take_stacks(std::size_t process) {
  if (stacks_.joinable() && !stacks_.join_until(now())) {
    throw Error(ErrorKind::failed, "the stacks of this process are being taken already: try again");
  }
  stacks_ = spawn("stacks", [this, process, incarnation = incarnations_[process]] {
    Stacks stacks;
    const std::vector<ThreadState> threads = thread_states(getpid());
    const Output output = lp::launch::run(stacks_command(getpid(), threads), kStacksLimit);
    if (output.code == Output::kTimedOut) ::kill(getpid(), SIGCONT);  // it was killed before it could do that itself
    try {
      stacks.text = stacks_text(threads, output.text.empty() ? output.errors : output.text);
    } catch (const Error& error) {
      stacks = {.text = error.text(), .problem = true};
    }
    loop_.post([this, process, incarnation, stacks = std::move(stacks)] {
      events_->on_measured(process, incarnation, {.stacks = stacks});
    });
  });
}

void ThreadExecutor::measure_use(std::span<const std::size_t> processes) {
  std::map<std::string, std::size_t> process_of;
  std::map<std::size_t, std::vector<CallStatistics>> calls;
  for (const SupervisionGraph::Node& node : graph_.nodes) process_of.emplace(node.name, node.process);
  for (CallStatistics& one : runtime_->calls()) {
    if (const auto at = process_of.find(one.caller); at != process_of.end())
      calls[at->second].push_back(std::move(one));
  }
  for (const std::size_t process : processes) {
    MetricSamples metrics;
    for (const NodeId node : graph_.processes[process].nodes) runtime_->add_metrics(node, metrics);
    Measurement measurement = measurement_of(std::move(calls[process]), std::move(metrics));
    measurement.use.emplace();  // the resources of a single thread are unknown
    events_->on_measured(process, incarnations_[process], std::move(measurement));
  }
}

void ThreadExecutor::abandon(const std::string& why) {
  for (std::size_t process = 0; process < stopping_.size(); ++process) {
    if (!stopping_[process]) continue;
    events_->on_exited(process, incarnations_[process], {.abandoned = true, .text = why});
  }
}

void ThreadExecutor::on_event(NodeEvent event) {
  loop_.post([this, event = std::move(event)] { events_->on_event(event); });
}

}  // namespace lp::launch
