// Nodes that could run and get no processor, from the kernels' counts of their threads.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/text.h"
#include "tools/lp/rates.h"
#include "tools/lp/why/diagnosis.h"

namespace lp::tool {
namespace {

using Process = WaitsRecord::Process;
using launch::ThreadState;

constexpr double kWaits = 0.25;      // a starved thread waits for a processor for this share of the time, at least
constexpr double kStarved = 0.9;     // and for this share of the time in which it could run
constexpr double kLeastTime = 0.25;  // seconds; a limit of a control group acts in periods of 0.1 s
constexpr std::size_t kMostStarved = 10;

const Process* find_process(const WaitsRecord& sample, const Process& process) {
  const auto at = std::find_if(sample.processes.begin(), sample.processes.end(), [&](const Process& one) {
    return one.host == process.host && one.pid == process.pid && one.nodes == process.nodes;
  });
  return at == sample.processes.end() || !at->threads.has_value() ? nullptr : &*at;
}

// The looks at one thread.
struct Looks {
  ThreadState first{};
  ThreadState last{};
  std::size_t runnable = 0;  // looks at which it could run, or ran
};

// The share of the time in which the thread waits for a processor, if it is starved.
std::optional<double> starved_share(const Looks& thread, std::size_t looks, double seconds) {
  const double ran = thread.last.ran - thread.first.ran;
  double starved = thread.last.starved - thread.first.starved;
  const bool same = ran == 0 && starved == 0;  // the kernel has not added its wait yet
  if (same && thread.runnable == looks) starved = seconds;
  if (starved < kWaits * seconds || starved < kStarved * (starved + ran)) return std::nullopt;
  return std::min(starved / seconds, 1.0);
}

// The starved threads of a process, with that share.
std::map<int, double> starved_threads(const Evidence& evidence, const Process& process, double seconds) {
  std::map<int, Looks> threads;
  std::map<int, std::size_t> looks;
  for (const WaitsRecord& sample : evidence.samples) {
    const Process* one = find_process(sample, process);
    if (one == nullptr) return {};
    for (const ThreadState& thread : *one->threads) {
      const auto [at, is_new] = threads.try_emplace(thread.id);
      if (is_new) at->second.first = thread;
      at->second.last = thread;
      if (thread.state == "R") ++at->second.runnable;
      ++looks[thread.id];
    }
  }
  std::map<int, double> starved;
  for (const auto& [id, thread] : threads) {
    if (looks[id] != evidence.samples.size()) continue;  // it began or ended meanwhile
    if (const auto share = starved_share(thread, looks[id], seconds)) starved.emplace(id, *share);
  }
  return starved;
}

// Whether one of these threads of the launcher runs code of the node.
bool runs_in(const Evidence& evidence, const Process& process, const std::map<int, double>& threads) {
  return std::any_of(evidence.samples.begin(), evidence.samples.end(), [&](const WaitsRecord& sample) {
    const Process* one = find_process(sample, process);
    return one != nullptr && one->waits.has_value() &&
           std::any_of(one->waits->nodes.begin(), one->waits->nodes.end(), [&](const NodeWaits& node) {
             const bool handles = node.turn.has_value() && threads.contains(node.turn->thread);
             return handles || threads.contains(node.run_thread);
           });
  });
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
  std::map<std::string, std::vector<const Process*>> starved;  // by host
  std::map<std::string, double> least;
  bool attributed = false;  // nodes that are threads share a process: those whose own threads are starved, else all
  for (const Process& process : evidence.samples.back().processes) {
    const std::map<int, double> threads = starved_threads(evidence, process, seconds);
    if (threads.empty()) continue;
    if (process.pid == 0 && runs_in(evidence, process, threads) != attributed) {
      if (attributed) continue;
      attributed = true;
      starved[process.host].clear();
    }
    starved[process.host].push_back(&process);
    const auto worst = std::max_element(threads.begin(), threads.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    double& share = least.try_emplace(process.host, 1).first->second;
    share = std::min(share, worst->second);
  }
  std::vector<Diagnosis> all;
  for (const auto& [host, processes] : starved) {
    std::vector<std::string> nodes;
    for (const Process* one : processes) nodes.insert(nodes.end(), one->nodes.begin(), one->nodes.end());
    all.push_back(diagnosis_of(host, std::move(nodes), least[host]));
  }
  return all;
}

}  // namespace lp::tool
