#pragma once
// The rates of a run per second: the difference of two measurements. Values and pure functions.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/control/measurement.h"
#include "launchers/record/status.h"
#include "lp/base/json.h"
#include "lp/rpc/core/counters.h"

namespace lp::tool {

// Calls of one direction, per second.
struct CallRate {
  double calls = 0;  // calls begun
  double errors = 0;
  double bytes = 0;           // sent and received by calls that left their process
  std::uint64_t waiting = 0;  // calls begun and not ended: in the queue, or being handled
  LatencyHistogram latency{};

  void add(const CallRate& other);
};

struct NodeRate {
  std::string name{};
  NodeStatus::State state = NodeStatus::State::waiting;
  std::uint32_t incarnation = 0;
  std::string host{};
  bool measured = false;     // its process has answered, and is not shared with the launcher
  double cpu = 0;            // processors in use: 1.5 is one and a half
  std::uint64_t memory = 0;  // bytes
  CallRate in{};             // calls to it
  CallRate out{};            // calls by it
};

struct Rates {
  std::vector<NodeRate> nodes{};                                    // in the order of the plan
  std::map<std::pair<std::string, std::string>, CallRate> edges{};  // by caller and callee
  double launcher_cpu = 0;
  std::uint64_t launcher_memory = 0;
  CallRate all{};
};

// The rates between two measurements of a run. The counters of a process that was restarted between them began at zero.
Rates rates_of(const MeasureRecord& before, const MeasureRecord& after);

// Writes a member of the current object.
void write_rate(JsonWriter& json, std::string_view name, const CallRate& rate);
// Writes members of the current object: the nodes, the edges, and what the launcher uses.
void write_rates(JsonWriter& json, const Rates& rates);

// "0", "7.5", "12k", "3.4M".
std::string short_number(double number);
// "16µs", "2ms", "1.1s"; empty for none.
std::string short_time(Duration duration);

}  // namespace lp::tool
