#pragma once
// Everything that a new process of a run receives from the launcher, and its form as a control message. A value, and
// functions without state.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launchers/control/spans_record.h"
#include "lp/rpc/core/run_settings.h"
#include "lp/wire/node_id.h"

namespace lp::control {
struct Start;
struct StartT;
}  // namespace lp::control

namespace lp::launch {

struct NodeStart {
  // Its program, which it builds again.
  std::uint64_t fingerprint = 0;  // identifies the program's graph and types
  std::string entry{};            // the program's name in the binary
  std::string configuration{};

  RunSettings run{};
  ProcessSettings process{};
  std::vector<NodeId> nodes{};
  std::string cut{};                 // the directory from which the nodes load; empty: none
  bool sends_cuts = false;           // files that are saved below the run's directory are sent to the launcher
  std::optional<SpanOrder> spans{};  // the process records spans from its first call on
};

control::StartT pack_start(const NodeStart& start);
NodeStart unpack_start(const control::Start& message);  // unpack() has checked the message

}  // namespace lp::launch
