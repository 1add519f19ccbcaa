#pragma once
// Control messages as bytes and back. The types are those that flatc makes of control.fbs: a .cc file that uses them
// includes control_generated.h, too.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lp::control {
struct Message;
struct MessageT;
}  // namespace lp::control

namespace lp::internal {

std::vector<std::uint8_t> pack_message(const control::MessageT& message);

// Null when the bytes are no message. The result points into them.
const control::Message* unpack(std::span<const std::uint8_t> bytes);

// A message about `unit`. `body` is one of the object types of control.fbs: SpawnT, KillT, ...
template <class Body, class Message = control::MessageT>
std::vector<std::uint8_t> pack(std::size_t unit, std::uint32_t incarnation, Body body) {
  Message message;
  message.unit = static_cast<std::uint32_t>(unit);
  message.incarnation = incarnation;
  message.body.Set(std::move(body));
  return pack_message(message);
}

}  // namespace lp::internal
