// Nodes that could run and get no processor, from the kernels' counts of their threads.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/lp/rates.h"
#include "tools/lp/why/diagnosis.h"

namespace lp::tool {
namespace {

using Process = WaitsRecord::Process;

constexpr double kStarved = 0.9;     // the share of the time in which a thread lacks a processor
constexpr double kLeastTime = 0.25;  // a limit of a control group acts in periods of 0.1 s

const Process* find_process(const WaitsRecord& sample, const Process& process) {
  const auto at = std::find_if(sample.processes.begin(), sample.processes.end(), [&](const Process& one) {
    return one.host == process.host && one.pid == process.pid && one.nodes == process.nodes;
  });
  return at == sample.processes.end() ? nullptr : &*at;
}

// The increase of the thread that lacked a processor most. Threads that began or ended meanwhile do not count.
double most_starved(const Process& before, const Process& after) {
  if (!before.threads.has_value() || !after.threads.has_value()) return 0;
  std::map<int, double> began;
  for (const launch::ThreadState& thread : *before.threads) began.emplace(thread.id, thread.starved);
  double most = 0;
  for (const launch::ThreadState& thread : *after.threads) {
    if (const auto at = began.find(thread.id); at != began.end()) most = std::max(most, thread.starved - at->second);
  }
  return most;
}

}  // namespace

std::vector<Diagnosis> diagnose_starved(const Evidence& evidence) {
  const WaitsRecord& first = evidence.samples.front();
  const WaitsRecord& last = evidence.samples.back();
  const double seconds = last.time - first.time;
  if (seconds < kLeastTime) return {};
  std::map<std::string, Diagnosis> by_host;
  std::map<std::string, double> least;
  for (const Process& after : last.processes) {
    const Process* before = after.pid == 0 ? nullptr : find_process(first, after);
    if (before == nullptr) continue;
    const double share = std::min(most_starved(*before, after) / seconds, 1.0);
    if (share < kStarved) continue;
    std::vector<std::string>& nodes = by_host[after.host].waiters;
    nodes.insert(nodes.end(), after.nodes.begin(), after.nodes.end());
    least[after.host] = std::min(least.try_emplace(after.host, 1).first->second, share);
  }
  std::vector<Diagnosis> all;
  for (auto& [host, found] : by_host) {
    const bool one = found.waiters.size() == 1;
    found.kind = Diagnosis::Kind::starved;
    found.node = found.waiters.front();
    found.waiting = found.waiters.size();
    found.text = (one ? found.node + " lacks" : std::to_string(found.waiting) + " nodes lack") + " a processor of " +
                 (host.empty() ? "this host" : "host " + host) + ": for " + short_number(least[host] * 100) +
                 " % of the time it could run, and had to wait. Its control group limits it, or others use the "
                 "processors";
    all.push_back(std::move(found));
  }
  return all;
}

}  // namespace lp::tool
