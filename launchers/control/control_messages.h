#pragma once
// Packs control messages into bytes and unpacks them. flatc generates the types from control.fbs, so a .cc file that
// uses them also includes control_generated.h.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lp::control {
struct Message;
struct MessageT;
}  // namespace lp::control

namespace lp::launch {

std::vector<std::uint8_t> pack_message(const control::MessageT& message);

// Returns the message, which points into `bytes`, or null when they hold no valid message.
const control::Message* unpack(std::span<const std::uint8_t> bytes);

// Packs a message about `process`. `body` is one of the object types of control.fbs: SpawnT, KillT, ...
template <class Body, class Message = control::MessageT>
std::vector<std::uint8_t> pack(std::size_t process, std::uint32_t incarnation, Body body) {
  Message message;
  message.process = static_cast<std::uint32_t>(process);
  message.incarnation = incarnation;
  message.body.Set(std::move(body));
  return pack_message(message);
}

}  // namespace lp::launch
