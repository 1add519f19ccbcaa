#pragma once
// What a program says of a group of nodes beside their constructor: how many, what they need, what happens when one
// fails. Values; they copy.

#include <cstdint>
#include <map>
#include <string>

#include "lp/base/replicas.h"
#include "lp/base/scheduler.h"

namespace lp {

// What the supervisor does when a node of the group fails: throws, exits, is killed, or hangs.
struct FailurePolicy {
  enum class Action : std::uint8_t { stop, restart, ignore };
  Action action = Action::stop;
  int budget = 0;                                     // restart: how often for each node; then the program stops
  Duration backoff = std::chrono::milliseconds(100);  // restart: before the first; doubles each time, to 10 s at most
};

// A failed node is started again, `budget` times at most; after that its failure stops the program.
constexpr FailurePolicy restart(int budget, Duration backoff = std::chrono::milliseconds(100)) {
  return {.action = FailurePolicy::Action::restart, .budget = budget, .backoff = backoff};
}
// The first failure stops the program. The default.
constexpr FailurePolicy stop_program() { return {}; }
// The program goes on without the node.
constexpr FailurePolicy ignore() { return {.action = FailurePolicy::Action::ignore}; }

struct GroupOptions {
  std::string name{};        // node names are "name" for add, "name/0", "name/1", ... for group
  Replicas replicas = 1;     // {2, 8}: elastic: goes on with two of eight
  double cpus = 0;           // cores for each node; 0: shares what there is, computes with one thread
  int gpus = 0;              // for each node; exported as CUDA_VISIBLE_DEVICES
  std::uint64_t memory = 0;  // bytes for each node; 0: no limit
  std::map<std::string, std::string> environment{};
  FailurePolicy on_failure{};
  bool ends_program = false;  // the program ends when every node of this group has finished
  Duration heartbeat{};       // a service that does not answer for so long has failed; 0: the launcher's default
};

}  // namespace lp
