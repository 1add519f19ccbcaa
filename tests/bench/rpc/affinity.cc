#include "tests/bench/rpc/affinity.h"

#include <sched.h>

#include <filesystem>

namespace lp::bench {
namespace {

void pin(int process, const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &set);
  std::error_code ended;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", ended)) {
    sched_setaffinity(std::stoi(task.path().filename()), sizeof set, &set);
  }
}

}  // namespace

std::string text(Pinning pinning) {
  switch (pinning) {
    case Pinning::one_core: return "one core";
    case Pinning::two_cores: return "two cores";
    case Pinning::unpinned: return "unpinned";
  }
  return {};
}

std::vector<int> cores() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> result;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) result.push_back(core);
  }
  return result;
}

void pin(const std::vector<int>& services, const std::vector<int>& callers, Pinning pinning,
         const std::vector<int>& cores) {
  const bool all = pinning == Pinning::unpinned;
  for (const int process : services) pin(process, all ? cores : std::vector{cores.back()});
  for (const int process : callers) {
    pin(process, all ? cores : std::vector{pinning == Pinning::one_core ? cores.back() : cores.front()});
  }
}

}  // namespace lp::bench
