#pragma once
// The options of a group of nodes, beside their constructor's arguments: how many nodes, what they need, and the
// reaction to a failure. Values; they copy.

#include <cstdint>
#include <map>
#include <string>

#include "lp/base/replicas.h"
#include "lp/base/scheduler.h"

namespace lp {

// The supervisor's reaction when a node of the group fails: throws, exits, is killed, or hangs.
struct FailurePolicy {
  enum class Action : std::uint8_t { stop, restart, ignore };
  Action action = Action::stop;
  int budget = 0;  // restart: how many times for each node; the next failure stops the program
  // restart: the wait before the first restart; it doubles each time, up to 10 s.
  Duration backoff = std::chrono::milliseconds(100);
  int least = 0;  // ignore: a failure that leaves fewer nodes of the group stops the program
};

// Restarts a failed node at most `budget` times; the next failure stops the program.
constexpr FailurePolicy restart(int budget, Duration backoff = std::chrono::milliseconds(100)) {
  return {.action = FailurePolicy::Action::restart, .budget = budget, .backoff = backoff};
}
// The first failure stops the program. The default.
constexpr FailurePolicy stop_program() { return {}; }
// The program goes on without the node, as long as at least `least` nodes of the group are left.
constexpr FailurePolicy ignore(int least = 0) { return {.action = FailurePolicy::Action::ignore, .least = least}; }

struct GroupOptions {
  std::string name{};        // node names are "name" for add, "name/0", "name/1", ... for group
  Replicas replicas = 1;     // {2, 8} makes the group elastic: the program goes on with two of eight
  double cpus = 0;           // cores for each node; 0: the node shares the host's cores and computes with one thread
  double gpus = 0;           // GPUs for each node; below 1: a part of one, which other nodes share
  std::uint64_t memory = 0;  // bytes for each node; 0: no limit
  std::map<std::string, std::string> environment{};
  FailurePolicy on_failure{};
  bool ends_program = false;  // the program ends when every node of this group has finished
  Duration heartbeat{};       // a service that does not answer for this long has failed; 0: the launcher's default
  std::string device{};       // where the nodes compute, for the plan: "cpu" or "cuda"; empty: it does not say
};

}  // namespace lp
