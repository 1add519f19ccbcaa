// Any bytes as a control message between a launcher, an agent and a node: a verified message, or none.

#include <cstddef>
#include <cstdint>
#include <span>

#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"
#include "launchers/control/node_events.h"
#include "launchers/control/node_start.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const lp::control::Message* const message = lp::launch::unpack(std::span(data, size));
  if (message == nullptr) return 0;
  if (const auto* event = message->body_as_NodeEvent()) lp::launch::unpack_event(*event, message->incarnation());
  if (const auto* start = message->body_as_Start()) lp::launch::unpack_start(*start);
  lp::control::MessageT copy;
  message->UnPackTo(&copy);
  const auto again = lp::launch::pack_message(copy);
  return lp::launch::unpack(again) == nullptr ? 1 : 0;
}
