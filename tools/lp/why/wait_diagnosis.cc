// The diagnoses that follow from who waits for whom.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "lp/base/enums.h"
#include "lp/base/text.h"
#include "tools/lp/why/diagnosis.h"

namespace lp::tool {
namespace {

using Kind = Diagnosis::Kind;
using Why = Activity::Why;
using End = Activity::End;

constexpr std::size_t kMostNames = 10;
constexpr double kLasting = 0.5;        // a wait that lasts is at least so old, as a share of the time of the looks
constexpr std::size_t kMostSteps = 32;  // the most that are shown of a chain

// The same activity in another sample.
using Identity = std::tuple<std::string, std::string, std::uint64_t, int>;
Identity identity_of(const Activity& one) { return {one.node, one.work, one.chain, one.thread}; }

class Search {
 public:
  Search(const Evidence& evidence, const WaitGraph& graph)
      : graph_(graph),
        first_(wait_graph(evidence.plan, evidence.samples.front())),
        evidence_(evidence),
        looked_(evidence.samples.back().time - evidence.samples.front().time) {
    for (std::size_t i = 0; i < first_.activities.size(); ++i) before_.emplace(identity_of(first_.activities[i]), i);
  }

  std::vector<Diagnosis> run() {
    for (std::size_t i = 0; i < graph_.activities.size(); ++i) {
      const std::vector<std::size_t> chain = graph_.chain_of(i);
      if (persists(chain)) diagnose_chain(chain);
    }
    std::vector<Diagnosis> all;
    for (auto& [key, found] : found_) all.push_back(std::move(found));
    add_versions(all);
    return all;
  }

 private:
  // Whether each wait of the chain was there in the first sample, too.
  bool persists(const std::vector<std::size_t>& chain) const {
    return std::all_of(chain.begin(), chain.end(), [this](std::size_t i) {
      const Activity& now = graph_.activities[i];
      const auto at = before_.find(identity_of(now));
      if (at == before_.end()) return false;
      const Activity& then = first_.activities[at->second];
      if (now.in_lp && now.waits < kLasting * looked_) return false;  // a new wait of the same code
      if (then.next.has_value() != now.next.has_value() || then.end != now.end) return false;
      return !now.next.has_value() ||
             identity_of(first_.activities[*then.next]) == identity_of(graph_.activities[*now.next]);
    });
  }

  void diagnose_chain(const std::vector<std::size_t>& chain) {
    const std::size_t last = chain.back();
    const auto again = std::find(chain.begin(), chain.end() - 1, last);
    if (chain.size() > 1 && again != chain.end() - 1) {
      const std::vector<std::size_t> circle(again, chain.end() - 1);
      return add({"circle", *std::min_element(circle.begin(), circle.end())}, chain, [&] { return deadlock(circle); });
    }
    const Activity& end = graph_.activities[last];
    const std::optional<Kind> kind = kind_of(chain);
    if (!kind.has_value()) return;
    if (*kind == Kind::cut_off || *kind == Kind::silent || *kind == Kind::stopped) {
      return add({std::string(enum_name(*kind)) + end.detail, 0}, chain, [&] { return unreachable(*kind, last); });
    }
    // Whoever misses the same value, or waits for the same end, has one cause.
    std::size_t cause = last;
    if (*kind == Kind::missing || *kind == Kind::reader) cause = place_of(chain, *kind);
    const std::string subject = *kind == Kind::missing
                                    ? graph_.activities[cause].node + join(graph_.activities[cause].missing, " ")
                                    : std::string();
    add({std::string(enum_name(*kind)) + subject, *kind == Kind::missing ? 0 : cause}, chain, [&] {
      return Diagnosis{.kind = *kind, .node = end.node, .text = sentence(*kind, graph_.activities[cause], end)};
    });
  }

  // A host that is cut off, or a process that does not answer, with all nodes in it.
  Diagnosis unreachable(Kind kind, std::size_t first) const {
    const Activity& end = graph_.activities[first];
    std::vector<std::string> others;
    std::size_t more = 0;
    for (std::size_t i = 0; i < graph_.activities.size(); ++i) {
      const Activity& one = graph_.activities[i];
      if (i == first || one.end != end.end || one.detail != end.detail || !one.work.empty()) continue;
      others.size() < kMostNames ? others.push_back(one.node) : static_cast<void>(++more);
    }
    if (more > 0) others.push_back(std::to_string(more) + " more");
    std::string text = sentence(kind, end, end);
    if (!others.empty()) text += "; the same is true of " + join(others, ", ");
    return {.kind = kind, .node = end.node, .text = std::move(text)};
  }

  // The activity of the chain whose missing value is the cause; nothing: that is whatever the chain ends at. A node
  // that brings its own value late does so in a handler, which is the cause itself, or in its run(), where the chain
  // ends.
  std::optional<std::size_t> lacking(const std::vector<std::size_t>& chain) const {
    for (std::size_t at = chain.size() - 1; at > 0; --at) {
      const Activity& one = graph_.activities[chain[at - 1]];
      if (one.why == Why::missing) return chain[at - 1];
      if (one.why != Why::own) continue;
      const bool runs = graph_.activities[chain[at]].work == "run()";
      if (!runs) return std::nullopt;
      if (at + 1 == chain.size()) return chain[at - 1];
    }
    return std::nullopt;
  }

  // The last activity of the chain that waits for a value or a reader.
  std::size_t place_of(const std::vector<std::size_t>& chain, Kind kind) const {
    if (graph_.activities[chain.back()].end == End::nobody || graph_.activities[chain.back()].lacks_value) {
      return chain.back();
    }
    if (kind == Kind::missing) return lacking(chain).value_or(chain.back());
    for (std::size_t at = chain.size() - 1; at > 0; --at) {
      if (graph_.activities[chain[at - 1]].why == Why::reader) return chain[at - 1];
    }
    return chain.back();
  }

  // Nothing when the chain is as it should be.
  std::optional<Kind> kind_of(const std::vector<std::size_t>& chain) const {
    const Activity& end = graph_.activities[chain.back()];
    switch (end.end) {
      case End::stopped: return Kind::stopped;
      case End::cut_off: return Kind::cut_off;
      case End::silent: return Kind::silent;
      case End::down: return chain.size() > 1 || end.restarts ? std::optional(Kind::down) : std::nullopt;
      case End::nobody: return Kind::missing;
      default: break;
    }
    if (chain.size() == 1) return std::nullopt;  // nobody waits for it
    if (end.end == End::blocked) return Kind::blocked;
    if (end.lacks_value) return Kind::missing;
    const auto has = [&](Why why) {
      return std::any_of(chain.begin(), chain.end() - 1,
                         [&](std::size_t i) { return graph_.activities[i].why == why; });
    };
    if (has(Why::reader)) return Kind::reader;
    return lacking(chain).has_value() ? Kind::missing : Kind::handler;
  }

  std::string sentence(Kind kind, const Activity& cause, const Activity& end) const {
    const std::string name = name_of(end);
    const std::string served = end.caller.empty() ? "" : ", called by " + end.caller;
    const std::string age = lasts(end.seconds);
    switch (kind) {
      case Kind::missing: return missing(cause, end);
      case Kind::reader:
        return "the stream " + name_of(cause) + " is full, because " + cause.caller +
               " does not take its items: " + name + " " + end.does;
      case Kind::handler:
        return end.end == End::unknown || end.end == End::works
                   ? name + served + ", has not returned" + (age.empty() ? "" : age) + ": it " + end.does
                   : name + served + ", " + end.does;
      case Kind::blocked: return name + served + (served.empty() ? " " : ", ") + end.does + age;
      default: return name + " " + end.does;
    }
  }

  std::string missing(const Activity& cause, const Activity& end) const {
    if (cause.why == Why::own && cause.next.has_value()) {
      return name_of(cause) + " waits for a value that " + cause.node + " itself must bring: " + name_of(end) + " " +
             end.does;
    }
    std::string text = name_of(cause) + " waits for a value that another call must bring";
    if (cause.missing.empty()) {
      return text + (cause.lacks_value ? ", and nobody knows which" : ", and no node is left that could call it");
    }
    text += ", and " + join(cause.missing, ", ") + (cause.missing.size() == 1 ? " has" : " have") + " not called";
    if (&cause == &end) return text;
    return text + ": " + name_of(end) + " " + end.does;
  }

  Diagnosis deadlock(const std::vector<std::size_t>& circle) const {
    Diagnosis diagnosis{.kind = Kind::deadlock, .node = graph_.activities[circle.front()].node};
    std::vector<std::string> steps;
    bool locks = true;
    for (const std::size_t i : circle) {
      const Activity& one = graph_.activities[i];
      locks = locks && one.why == Why::lock;
      steps.push_back(name_of(one) + thread_text(one) + " " + one.does +
                      (one.why == Why::lock ? " that " + name_of(graph_.activities[*one.next]) +
                                                  thread_text(graph_.activities[*one.next]) + " has"
                                            : ""));
    }
    std::set<std::string> nodes;
    for (const std::size_t i : circle) nodes.insert(graph_.activities[i].node);
    diagnosis.text = (nodes.size() > 1 ? std::to_string(nodes.size()) + " nodes wait for one another in a circle"
                      : locks          ? std::to_string(circle.size()) + " threads of " + *nodes.begin() +
                                    " wait for one another, with locks in opposite order"
                              : *nodes.begin() + " waits for itself") +
                     ": " + join(steps, "; ");
    return diagnosis;
  }

  static std::string thread_text(const Activity& one) {
    return one.why == Why::lock && one.thread != 0 ? " (thread " + std::to_string(one.thread) + ")" : "";
  }

  std::vector<std::string> steps(const std::vector<std::size_t>& chain) const {
    std::vector<std::string> all;
    for (const std::size_t i : chain) {
      if (all.size() == kMostSteps) break;
      const Activity& one = graph_.activities[i];
      all.push_back(name_of(one) + (one.caller.empty() ? "" : ", called by " + one.caller + ",") + " " + one.does);
    }
    return all;
  }

  using Key = std::pair<std::string, std::size_t>;
  template <class Make>
  void add(const Key& key, const std::vector<std::size_t>& chain, Make make) {
    auto at = found_.find(key);
    if (at == found_.end()) at = found_.emplace(key, make()).first;
    Diagnosis& diagnosis = at->second;
    std::set<std::string>& nodes = waiting_[key];
    const Activity& waiter = graph_.activities[chain.front()];
    const bool is_part = chain.size() == 1;  // itself in the host or the process that does not answer
    if (waiter.node != diagnosis.node && !is_part) nodes.insert(waiter.node);
    diagnosis.waiting = nodes.size();
    diagnosis.waiters.assign(nodes.begin(), nodes.end());
    if (diagnosis.chain.empty() || chain.size() > diagnosis.chain.size()) diagnosis.chain = steps(chain);
  }

  // Whether the same reader held the same version, and the readers too many, at the first look.
  bool held_before(const std::string& name, const HeldVersions& held) const {
    for (const WaitsRecord::Process& process : evidence_.samples.front().processes) {
      if (!process.waits.has_value()) continue;
      for (const NodeWaits& node : process.waits->nodes) {
        if (node.node != name) continue;
        for (const HeldVersions& one : node.versions) {
          if (one.held > one.limit && one.oldest == held.oldest && one.reader == held.reader) return true;
        }
      }
    }
    return false;
  }

  void add_versions(std::vector<Diagnosis>& all) const {
    for (const WaitsRecord::Process& process : evidence_.samples.back().processes) {
      if (!process.waits.has_value()) continue;
      for (const NodeWaits& node : process.waits->nodes) {
        for (const HeldVersions& held : node.versions) {
          if (held.held <= held.limit || !held_before(node.node, held)) continue;
          all.push_back({.kind = Kind::versions,
                         .node = node.node,
                         .text = node.node + " cannot publish: readers hold " + std::to_string(held.held) +
                                 " versions, and only " + std::to_string(held.limit) + " old ones are allowed; " +
                                 held.reader + " has held version " + std::to_string(held.oldest) + " for " +
                                 age_text(held.seconds) + ", and the newest is " + std::to_string(held.newest)});
        }
      }
    }
  }

  const WaitGraph& graph_;
  const WaitGraph first_;
  const Evidence& evidence_;
  const double looked_;  // seconds
  std::map<Identity, std::size_t> before_;
  std::map<Key, Diagnosis> found_;
  std::map<Key, std::set<std::string>> waiting_;
};

}  // namespace

std::vector<Diagnosis> diagnose_waits(const Evidence& evidence, const WaitGraph& graph) {
  return Search(evidence, graph).run();
}

}  // namespace lp::tool
