// Nodes that could run and get no processor, from the kernels' counts of their threads.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/text.h"
#include "tools/lp/rates.h"
#include "tools/lp/why/diagnosis.h"

namespace lp::tool {
namespace {

using launch::ThreadState;

constexpr double kWaits = 0.25;           // a starved thread waits for a processor for this share of the time, at least
constexpr double kStarved = 0.9;          // and for this share of the time in which it could run
constexpr double kLeastTime = 0.25;       // seconds; a limit of a control group acts in periods of 0.1 s
constexpr std::size_t kMostStarved = 10;  // whose names are shown

// One thread at all looks.
struct Thread {
  ThreadState first{};
  ThreadState last{};
  std::size_t looks = 0;
  std::size_t runnable = 0;       // looks at which it could run, or ran
  std::set<std::string> nodes{};  // those whose run() or turn it had
};

// A process at all looks. The nodes that are threads of the launcher share one.
struct Process {
  std::vector<std::string> nodes{};
  std::map<int, Thread> threads{};
};

using Key = std::pair<std::string, int>;  // host and process; the launcher's is 0

std::map<Key, Process> processes_of(const Evidence& evidence) {
  std::map<Key, Process> all;
  for (const WaitsRecord& sample : evidence.samples) {
    const bool last = &sample == &evidence.samples.back();
    for (const WaitsRecord::Process& process : sample.processes) {
      Process& to = all[{process.host, process.pid}];
      // A node without a process has no number either.
      const bool lives = process.pid != 0 || process.waits.has_value();
      if (last && lives) to.nodes.insert(to.nodes.end(), process.nodes.begin(), process.nodes.end());
      for (const ThreadState& state : process.threads.value_or(std::vector<ThreadState>())) {
        Thread& thread = to.threads[state.id];
        if (thread.looks++ == 0) thread.first = state;
        thread.last = state;
        if (state.state == "R") ++thread.runnable;
      }
    }
  }
  return all;
}

// Notes which threads of the launcher run code of which nodes.
void add_users(const Evidence& evidence, std::map<int, Thread>& threads) {
  const auto add = [&](int id, const std::string& node) {
    if (const auto at = threads.find(id); at != threads.end()) at->second.nodes.insert(node);
  };
  for (const WaitsRecord& sample : evidence.samples) {
    for (const WaitsRecord::Process& process : sample.processes) {
      if (process.pid != 0 || !process.waits.has_value()) continue;
      for (const NodeWaits& node : process.waits->nodes) {
        add(node.run_thread, node.node);
        if (node.turn.has_value()) add(node.turn->thread, node.node);
      }
    }
  }
}

// The share of the time in which the thread waits for a processor, if it is starved; else 0.
double starved_share(const Thread& thread, std::size_t looks, double seconds) {
  if (thread.looks != looks) return 0;  // it began or ended meanwhile
  const double ran = thread.last.ran - thread.first.ran;
  double starved = thread.last.starved - thread.first.starved;
  const bool same = ran == 0 && starved == 0;  // the kernel has not added its wait yet
  if (same && thread.runnable == looks) starved = seconds;
  if (starved < kWaits * seconds || starved < kStarved * (starved + ran)) return 0;
  return std::min(starved / seconds, 1.0);
}

Diagnosis diagnosis_of(const std::string& host, std::vector<std::string> nodes, double share) {
  const std::size_t count = nodes.size();
  std::string names =
      join(std::vector<std::string>(nodes.begin(),
                                    nodes.begin() + static_cast<std::ptrdiff_t>(std::min(count, kMostStarved))),
           ", ");
  if (count > kMostStarved) names += " and " + std::to_string(count - kMostStarved) + " more";
  return {.kind = Diagnosis::Kind::starved,
          .node = nodes.front(),
          .text = names + (count == 1 ? " lacks" : " lack") + " a processor of " +
                  (host.empty() ? "this host" : "host " + host) + ": a thread that could run waits for one, for " +
                  (count == 1 ? "" : "at least ") + short_number(share * 100) +
                  " % of the time. A limit of its control group, or other work on the host, takes it",
          .waiting = count,
          .waiters = std::move(nodes)};
}

}  // namespace

std::vector<Diagnosis> diagnose_starved(const Evidence& evidence) {
  const double seconds = evidence.samples.back().time - evidence.samples.front().time;
  if (seconds < kLeastTime) return {};
  std::map<Key, Process> processes = processes_of(evidence);
  if (const auto launcher = processes.find({"", 0}); launcher != processes.end()) {
    add_users(evidence, launcher->second.threads);
  }
  std::map<std::string, std::vector<std::string>> nodes;  // by host
  std::map<std::string, double> least;
  for (const auto& [key, process] : processes) {
    double most = 0;
    std::set<std::string> own;
    for (const auto& [id, thread] : process.threads) {
      const double share = starved_share(thread, evidence.samples.size(), seconds);
      most = std::max(most, share);
      if (share > 0) own.insert(thread.nodes.begin(), thread.nodes.end());
    }
    if (most == 0 || process.nodes.empty()) continue;
    std::vector<std::string>& found = nodes[key.first];
    if (own.empty()) {
      found.insert(found.end(), process.nodes.begin(), process.nodes.end());
    } else {
      found.insert(found.end(), own.begin(), own.end());
    }
    double& share = least.try_emplace(key.first, 1).first->second;
    share = std::min(share, most);
  }
  std::vector<Diagnosis> all;
  for (auto& [host, found] : nodes) all.push_back(diagnosis_of(host, std::move(found), least[host]));
  return all;
}

}  // namespace lp::tool
