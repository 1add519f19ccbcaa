// Any bytes as a message between processes: every head and table is read as its kind, or refused with an lp::Error.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lp/base/error.h"
#include "lp/wire/envelope.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lp::Message message;
  message.body = lp::Buffer::copy_of(std::as_bytes(std::span(data, size)));
  try {
    lp::CallHead call;
    lp::ReplyHead reply;
    std::array<std::uint32_t, 32> path{};
    std::size_t path_length = 0;
    switch (lp::read_kind(message)) {
      case lp::PacketKind::hello: static_cast<void>(lp::hello_packet(lp::read_hello(message))); break;
      case lp::PacketKind::refusal: static_cast<void>(lp::read_refusal(message)); break;
      case lp::PacketKind::call:
      case lp::PacketKind::send: static_cast<void>(lp::read_call(message, call, path, path_length)); break;
      case lp::PacketKind::ask: static_cast<void>(lp::ask_packet(lp::read_ask(message))); break;
      case lp::PacketKind::error: static_cast<void>(lp::error_packet(1, lp::read_error(message))); break;
      default: static_cast<void>(lp::read_reply(message, reply)); break;
    }
  } catch (const lp::Error&) {
  }
  return 0;
}
