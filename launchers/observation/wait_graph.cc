#include "launchers/observation/wait_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "launchers/observation/absent_nodes.h"
#include "launchers/observation/callers.h"
#include "launchers/observation/thread_text.h"
#include "launchers/observation/wait_choice.h"
#include "lp/base/enums.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

using For = WaitingThread::For;
using CallState = OpenCall::State;
using Why = Activity::Why;
using End = Activity::End;

constexpr std::size_t kMostWays = 100;  // the oldest calls of which one may bring a Future

class Builder {
 public:
  Builder(const Plan& plan, const WaitsRecord& record) : plan_(plan), record_(record) {}

  WaitGraph build() {
    index();
    for (const NodeStatus& node : record_.status.nodes) add_activities(node);
    add_locked();
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].does.empty()) follow(i);
    }
    link_to_bringers();
    ways_.leave_circles(all_);
    std::map<std::string, std::size_t> sizes = queues();
    return {.activities = std::move(all_), .queues = std::move(sizes)};
  }

 private:
  using Process = WaitsRecord::Process;
  struct Home {
    const Process* process = nullptr;
    const NodeWaits* waits = nullptr;  // null: its process has not answered
    std::string threads_of{};          // a key of threads_
  };

  void index() {
    for (const Process& process : record_.processes) {
      const std::string key = process.host + ":" + std::to_string(process.pid);
      for (const std::string& node : process.nodes) homes_[node] = {&process, nullptr, key};
      if (process.threads.has_value()) {
        for (const ThreadState& thread : *process.threads) threads_[key][thread.id] = &thread;
      }
      if (!process.waits.has_value()) continue;
      for (const NodeWaits& node : process.waits->nodes) homes_[node.node].waits = &node;
      for (const OpenCall& call : process.waits->calls) {
        calls_to_[call.callee].push_back(&call);
        calls_by_[call.caller].push_back(&call);
      }
    }
  }

  // Null: the agent of the host has not answered.
  const ThreadsById* threads_in(const Home& home) const {
    const auto at = threads_.find(home.threads_of);
    return at == threads_.end() ? nullptr : &at->second;
  }

  void add(Activity activity) {
    by_node_[activity.node].push_back(all_.size());
    all_.push_back(std::move(activity));
  }

  void add_activities(const NodeStatus& status) {
    const auto at = homes_.find(status.name);
    if (at == homes_.end() || at->second.process == nullptr) {
      if (std::optional<Activity> absent = absent_node(status)) add(std::move(*absent));
      return;
    }
    const Home& home = at->second;
    if (status.state == NodeStatus::State::starting) return add(starting_node(status, threads_in(home)));
    if (home.waits == nullptr) {
      return add(silent_node(status.name, *home.process, home.threads_of, threads_in(home)));
    }
    const NodeWaits& node = *home.waits;
    if (node.run_thread != 0) add({.node = node.node, .work = "run()", .thread = node.run_thread});
    const auto add_handler = [&](const RunningHandler& one) {
      add({.node = node.node,
           .work = one.work + "()",
           .caller = one.caller,
           .chain = one.chain,
           .thread = one.thread,
           .seconds = one.seconds});
    };
    if (node.turn.has_value()) add_handler(*node.turn);
    for (const RunningHandler& one : node.beside) add_handler(one);
    for (const WaitingThread& thread : node.threads) {
      if (has_activity(node.node, thread.thread)) continue;
      add({.node = node.node,
           .work = thread.chain == 0 ? "a further thread" : "a handler",
           .chain = thread.chain,
           .thread = thread.thread,
           .seconds = thread.seconds});
    }
    for (const OpenCall* call : calls_to_[node.node]) {
      if (call->state != CallState::open && call->state != CallState::paused) continue;
      add({.node = node.node,
           .work = call->method + "()",
           .caller = call->caller,
           .chain = call->chain,
           .open = true,
           .seconds = age_of(*call)});
    }
  }

  // The age of a call at its callee, which its caller knows.
  double age_of(const OpenCall& call) {
    for (const OpenCall* one : calls_by_[call.caller]) {
      if (one->chain == call.chain && one->callee == call.callee && one->seconds.has_value()) return *one->seconds;
    }
    return 0;
  }

  bool has_activity(const std::string& node, int thread) const {
    const auto at = by_node_.find(node);
    return at != by_node_.end() &&
           std::any_of(at->second.begin(), at->second.end(), [&](std::size_t i) { return all_[i].thread == thread; });
  }

  // Threads that wait for a lock, and are not lp's as far as it knows.
  void add_locked() {
    for (const auto& process : threads_) {
      for (const auto& [id, thread] : process.second) {
        if (thread->lock_owner != 0) add_locked(process.first, *thread);
      }
    }
  }
  void add_locked(const std::string& process, const ThreadState& thread) {
    const auto node = std::find_if(homes_.begin(), homes_.end(), [&](const auto& one) {
      return one.second.threads_of == process && one.second.waits != nullptr;
    });
    const bool known = std::any_of(all_.begin(), all_.end(), [&](const Activity& one) {
      return one.thread == thread.id && homes_.at(one.node).threads_of == process;
    });
    if (node != homes_.end() && !known)
      add({.node = node->first, .work = "thread " + thread.name, .thread = thread.id});
  }

  // Finds the wait of the activity.
  void follow(std::size_t i) {
    Activity& self = all_[i];
    if (self.open) return follow_open(i);
    const NodeWaits& node = *homes_.at(self.node).waits;
    const auto wait = std::find_if(node.threads.begin(), node.threads.end(),
                                   [&](const WaitingThread& one) { return one.thread == self.thread; });
    if (wait == node.threads.end()) return follow_thread(i);
    self.in_lp = true;
    self.waits = wait->seconds;
    self.callee = wait->callee;
    if (self.seconds == 0) self.seconds = wait->seconds;
    const std::string times = ", for " + age_text(wait->seconds) +
                              (wait->left.has_value() ? ", with " + age_text(*wait->left) + " left" : "");
    const std::string call = wait->callee + "." + wait->method + "()";
    switch (wait->what) {
      case For::reply: self.does = "waits for " + call + times; break;
      case For::item: self.does = "waits for the next item of " + call + times; break;
      case For::room: self.does = "waits to send " + call + times; break;
      case For::future: self.does = "waits for a Future" + times; return follow_future(i, wait->chain);
      case For::turn: self.does = "waits for its own turn" + times; return link_to_turn(i, self.node, Why::queued);
      case For::time:
        self.does = wait->left.has_value() ? "sleeps" + times : "waits to be stopped";
        self.end = End::sleeps;
        self.until_stop = !wait->left.has_value();
        return;
      case For::save: self.does = "waits for its last checkpoint to be written" + times; return follow_save(i);
    }
    follow_call(i, wait->callee, wait->method, wait->call_chain);
  }

  // A thread that does not wait in lp.
  void follow_thread(std::size_t i) {
    Activity& self = all_[i];
    for (std::size_t other = 0; other < all_.size(); ++other) {  // a call that runs on its caller's stack
      const Activity& inner = all_[other];
      if (other == i || inner.thread != self.thread || inner.caller != self.node) continue;
      if (homes_.at(inner.node).threads_of != homes_.at(self.node).threads_of) continue;
      self.does = "is in " + name_of(inner);
      return link(i, other, Why::runs);
    }
    const ThreadsById* threads = threads_in(homes_.at(self.node));
    const ThreadState* state = nullptr;
    if (threads != nullptr) {
      if (const auto at = threads->find(self.thread); at != threads->end()) state = at->second;
    }
    if (state == nullptr) {
      self.does = "goes on";
    } else if (is_stopped(*state)) {
      self.does = "is stopped";
      self.end = End::stopped;
    } else if (state->lock_owner != 0) {
      follow_lock(i, state->lock_owner);
    } else if (state->state == "R") {
      self.does = "works";
      self.end = End::works;
    } else {
      block(self, *state);
    }
  }

  static void block(Activity& self, const ThreadState& state) {
    self.end = End::blocked;
    self.detail = place_of(state);
    self.does = "is blocked outside lp, in " + self.detail;
    if (state.state == "D") self.does += ", for a device";
  }

  void follow_lock(std::size_t i, int owner) {
    Activity& self = all_[i];
    self.does = "waits for a lock (std::mutex) of its own";
    const std::string& key = homes_.at(self.node).threads_of;
    for (std::size_t other = 0; other < all_.size(); ++other) {
      if (all_[other].thread == owner && homes_.at(all_[other].node).threads_of == key)
        return link(i, other, Why::lock);
    }
    const auto thread = threads_.at(key).find(owner);
    const std::string name = thread == threads_.at(key).end() ? "" : thread->second->name + ", ";
    self.does += " that thread " + name + std::to_string(owner) + " has";
    if (thread == threads_.at(key).end()) {
      self.end = End::blocked;
      self.detail = "a lock whose thread has ended";
      return;
    }
    const std::size_t holder = all_.size();
    add({.node = self.node, .work = "thread " + name + std::to_string(owner), .thread = owner});
    link(i, holder, Why::lock);
  }

  // The call of `self` without a waiting thread: others that its handler has made keep it, or a value that is missing.
  void follow_open(std::size_t i) {
    Activity& self = all_[i];
    const std::vector<const OpenCall*>& calls = calls_to_[self.node];
    const bool paused = std::any_of(calls.begin(), calls.end(), [&](const OpenCall* one) {
      return one->chain == self.chain && one->caller == self.caller && one->state == CallState::paused;
    });
    if (!paused) {
      self.does = "has returned a Future that is not ready" + lasts(self.seconds);
      return follow_future(i, self.chain);
    }
    self.does = "is a stream that waits until " + self.caller + " takes its items" + lasts(self.seconds);
    std::vector<WayOut> readers;
    for (const std::size_t other : by_node_[self.caller]) {
      if (other != i) readers.push_back({.next = other, .why = Why::reader});
    }
    if (readers.empty()) {
      self.end = End::nobody;
    } else {
      take_first(i, std::move(readers));
    }
  }

  // A Future: of a call that the code has made, else a value that another call of its node brings.
  void follow_future(std::size_t i, std::uint64_t chain) {
    const std::string node = all_[i].node, own = all_[i].does;
    std::vector<const OpenCall*> calls;
    for (const OpenCall* call : calls_by_[node]) {
      if (chain == 0 || call->chain == chain) calls.push_back(call);
    }
    if (calls.empty()) return follow_missing(i);
    const std::size_t shown = std::min(calls.size(), kMostWays);
    std::partial_sort(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(shown), calls.end(),
                      [](const OpenCall* a, const OpenCall* b) { return age_at(*a) > age_at(*b); });
    calls.resize(shown);
    std::vector<WayOut> ways;
    for (const OpenCall* call : calls) {  // nobody knows which of them the Future needs
      Activity& self = all_[i];
      self.does = own + ", of its call of " + call->callee + "." + call->method + "()";
      self.next.reset();
      self.end = End::unknown;
      self.detail.clear();
      follow_call(i, call->callee, call->method, call->chain);
      ways.push_back({self.next, self.why, self.end, self.does, self.detail});
    }
    take_first(i, std::move(ways));
    if (chain == 0) brought_.emplace_back(i, node);  // or other code of the node may bring it
  }

  static double age_at(const OpenCall& call) { return call.seconds.value_or(0); }

  // The wait may end in each of these ways.
  void take_first(std::size_t i, std::vector<WayOut> ways) {
    take_way(all_[i], ways.front());
    if (ways.size() > 1) ways_.offer(i, ways_.add_list(std::move(ways)));
  }

  const MissingCallers& missing_at(const std::string& node) {
    const auto [at, is_new] = missing_.try_emplace(node);
    if (!is_new) return at->second;
    std::set<std::string> waiting;
    std::set<std::uint64_t> sent, returned;  // by chain
    for (const OpenCall* call : calls_to_[node]) {
      waiting.insert(call->caller);
      const bool is_open = call->state == CallState::open || call->state == CallState::paused;
      (is_open ? returned : sent).insert(call->chain);
    }
    const bool on_its_way = !std::includes(returned.begin(), returned.end(), sent.begin(), sent.end());
    return at->second = missing_callers(plan_, node, waiting, on_its_way);
  }

  // Which others there are is known later: see link_to_bringers().
  void follow_missing(std::size_t i) {
    Activity& self = all_[i];
    self.missing = missing_at(self.node).likely;
    if (self.missing.empty() && self.work != "run()" && has_run(self.node)) self.missing.push_back(self.node);
    brought_.emplace_back(i, self.node);
    lacks_value_.insert(i);
  }

  void link_to_bringers() {
    std::map<std::string, std::size_t> lists;
    std::map<std::string, std::vector<WayOut>> ways;
    for (const auto& [i, node] : brought_) {
      const auto [at, is_new] = lists.try_emplace(node);
      if (is_new) {
        ways[node] = bringers_of(node);
        at->second = ways_.add_list(ways[node]);
      }
      ways_.offer(i, at->second);
      if (!lacks_value_.contains(i)) continue;
      const std::vector<WayOut>& all = ways[node];
      // A copy, because clang 14 captures no structured binding.
      const auto first = std::find_if(all.begin(), all.end(), [&, i = i](const WayOut& way) { return way.next != i; });
      if (first == all.end()) {
        all_[i].end = End::nobody;
      } else {
        take_way(all_[i], *first);
      }
    }
  }

  // The activities that may bring a value at the node: those of the callers that have not come, and then its own. A
  // caller that sleeps by its own choice is expected to bring nothing, but where the others of its group have come.
  std::vector<WayOut> bringers_of(const std::string& node) {
    std::vector<WayOut> all, unsure;
    std::set<std::string> seen{node};
    const MissingCallers& missing = missing_at(node);
    std::vector<std::string> callers = missing.likely;
    const auto add_caller = [&](const std::string& caller, bool likely) {
      for (const bool lacks : {false, true}) {
        for (const std::size_t other : by_node_[caller]) {
          if (lacks_value_.contains(other) != lacks) continue;
          const bool sure = likely && (missing.mates || all_[other].end != End::sleeps);
          if (!sure && all_[other].until_stop) continue;
          (sure ? all : unsure).push_back({.next = other, .why = Why::missing, .unsure = !sure});
        }
      }
    };
    for (std::size_t i = 0; i < callers.size(); ++i) {
      if (!seen.insert(callers[i]).second) continue;
      add_caller(callers[i], true);
      if (by_node_[callers[i]].empty()) {  // it comes when somebody calls it
        const std::vector<std::string> further = callers_of(plan_, callers[i]);
        callers.insert(callers.end(), further.begin(), further.end());
      }
    }
    for (const std::size_t other : by_node_[node]) {
      // Another call that lacks the value does not bring it.
      if (all_[other].work == "run()" || !lacks_value_.contains(other)) {
        all.push_back({.next = other, .why = Why::own});
      }
    }
    for (const std::string& caller : missing.unlikely) {
      if (seen.insert(caller).second) add_caller(caller, false);
    }
    all.insert(all.end(), unsure.begin(), unsure.end());
    return all;
  }

  bool has_run(const std::string& node) const {
    const auto at = homes_.find(node);
    return at != homes_.end() && at->second.waits != nullptr && at->second.waits->run_thread != 0;
  }

  // A call's caller waits for its callee.
  void follow_call(std::size_t i, const std::string& callee, const std::string& method, std::uint64_t chain) {
    Activity& self = all_[i];
    const std::vector<const OpenCall*>& calls = calls_to_[callee];
    const auto has_call = [&](CallState state) {
      return std::any_of(calls.begin(), calls.end(), [&](const OpenCall* one) {
        return one->state == state && one->method == method && one->chain == chain;
      });
    };
    const std::vector<std::size_t>& there = by_node_[callee];
    for (const std::size_t other : there) {  // the callee as a whole: it is down, or does not answer
      if (all_[other].work.empty()) return link(i, other, Why::runs);
    }
    if (has_call(CallState::held)) {
      self.end = End::down;
      self.detail = "the node is not connected yet";
      return;
    }
    for (const std::size_t other : there) {
      if (other != i && chain != 0 && all_[other].chain == chain) return link(i, other, Why::runs);
    }
    const bool asks = has_call(CallState::asks);
    if (has_call(CallState::limited)) {
      self.does += "; as many calls of it run as may";
      std::vector<WayOut> running;
      for (const std::size_t other : there) {
        if (!all_[other].open && all_[other].work == method + "()") {
          running.push_back({.next = other, .why = Why::queued});
        }
      }
      if (!running.empty()) return take_first(i, std::move(running));
    }
    if (asks) self.does += "; there is no room for it";
    link_to_turn(i, callee, asks ? Why::room : Why::queued);
  }

  void link_to_turn(std::size_t i, const std::string& node, Why why) {
    const auto at = homes_.find(node);
    if (at == homes_.end() || at->second.waits == nullptr || !at->second.waits->turn.has_value()) return;
    for (const std::size_t other : by_node_[node]) {
      if (other != i && !all_[other].open && all_[other].thread == at->second.waits->turn->thread &&
          all_[other].work != "run()") {
        return link(i, other, why);
      }
    }
  }

  // A call that is sent is in the list of its caller, and may be in that of its callee, too.
  std::map<std::string, std::size_t> queues() {
    std::map<std::string, std::size_t> sizes;
    for (const auto& [name, home] : homes_) {
      if (home.waits == nullptr) continue;
      std::set<std::uint64_t> waiting;
      for (const OpenCall* call : calls_to_[name]) {
        if (call->state != CallState::held) waiting.insert(call->chain);
      }
      for (const std::size_t i : by_node_[name]) {
        if (all_[i].work != "run()") waiting.erase(all_[i].chain);
      }
      const std::size_t size = std::max<std::size_t>(waiting.size(), home.waits->queue);
      if (size > 0) sizes[name] = size;
    }
    return sizes;
  }

  void follow_save(std::size_t i) {
    Activity& self = all_[i];
    const ThreadsById* threads = threads_in(homes_.at(self.node));
    if (threads == nullptr) return;
    std::set<int> known;
    for (const std::size_t other : by_node_[self.node]) known.insert(all_[other].thread);
    const ThreadState* writer = checkpoint_writer(*threads, known);
    if (writer == nullptr) return;
    const std::string own = self.does;
    block(self, *writer);
    self.does = own + "; the thread that writes it " + self.does;
  }

  void link(std::size_t i, std::size_t other, Why why) {
    all_[i].next = other;
    all_[i].why = why;
  }

  const Plan& plan_;
  const WaitsRecord& record_;
  std::map<std::string, Home> homes_;
  std::map<std::string, ThreadsById> threads_;  // by process
  std::map<std::string, std::vector<const OpenCall*>> calls_to_;
  std::map<std::string, std::vector<const OpenCall*>> calls_by_;
  std::map<std::string, MissingCallers> missing_;             // by node: see missing_at
  std::vector<std::pair<std::size_t, std::string>> brought_;  // activities that others may end, at this node
  std::set<std::size_t> lacks_value_;                         // those for whose value there is no call
  WaysOut ways_;
  std::vector<Activity> all_;
  std::map<std::string, std::vector<std::size_t>> by_node_;
};

}  // namespace

WaitGraph wait_graph(const Plan& plan, const WaitsRecord& record) { return Builder(plan, record).build(); }

}  // namespace lp::launch
