#pragma once
// The heads of messages between processes (envelope.fbs has their layout). Everything that is read here comes from
// outside: a malformed message throws Error(failed). Pure functions; any thread.

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/wire/message.h"

namespace lp {

enum class PacketKind : std::uint8_t {
  hello = 1,
  welcome,
  refusal,
  call,
  send,
  cancel,
  credit,
  value,
  item,
  error,
  ask,
  room,
  taken,
  inquiry,
  wait_chain
};

struct CallHead {
  std::uint64_t call = 0;
  std::uint64_t method = 0;
  std::int64_t remaining = 0;  // nanoseconds; the largest: no deadline
  std::uint64_t sequence = 0;
  std::uint64_t chain = 0;
  std::uint64_t span = 0;  // 0: it is not recorded
  std::uint32_t node = 0;
  std::uint32_t incarnation = 0;
  std::uint32_t caller = 0;
  std::uint32_t caller_incarnation = 0;
};

struct ReplyHead {
  std::uint64_t call = 0;
  std::uint64_t amount = 0;
};

// Asks whether a call of this many bytes may come.
struct AskHead {
  std::uint64_t call = 0;
  std::uint64_t bytes = 0;
  std::uint32_t node = 0;
  std::uint32_t incarnation = 0;
};

// The work of a service in its turn, and the reply that this work waits for.
struct WaitLink {
  static constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t node = kNobody;
  std::string work{};               // the method
  std::uint32_t caller = kNobody;   // a node; kNobody: somebody else
  Duration age{};                   // the work's
  std::uint32_t awaited = kNobody;  // the node whose reply the work waits for; kNobody: it waits for none
  std::string method{};             // the awaited method
};

// The reasons why a call has no reply: the work of its callee, then the work of the node for which that waits, and so
// on. Each node stands there once: where nodes wait for one another in a circle, the list ends.
using WaitChain = std::vector<WaitLink>;
constexpr std::size_t kMostWaitLinks = 16;

struct Hello {
  std::string run{};
  std::string token{};
  std::uint64_t fingerprint = 0;
};

// The number of blank bytes that a body needs in front.
std::size_t call_front(std::size_t path_length);
std::size_t reply_front();

// Fills the blank bytes in front of the body.
void write_call(Message& message, PacketKind kind, const CallHead& head, std::span<const std::uint32_t> path);
void write_reply(Message& message, PacketKind kind, const ReplyHead& head);

Message hello_packet(const Hello& hello);
Message welcome_packet();
Message refusal_packet(const std::string& text);
Message error_packet(std::uint64_t call, const Error& error);
Message signal_packet(PacketKind kind, const ReplyHead& head);  // cancel, credit, room, taken, inquiry
Message wait_chain_packet(std::uint64_t call, const WaitChain& all);
Message ask_packet(const AskHead& head);

// Checks the prefix, and that its number of frames came.
PacketKind read_kind(const Message& message);
// Fills `path` with the callers and returns the offset of the arguments. A path longer than `path` is refused.
std::size_t read_call(const Message& message, CallHead& head, std::span<std::uint32_t> path, std::size_t& path_length);
std::size_t read_reply(const Message& message, ReplyHead& head);
AskHead read_ask(const Message& message);
Hello read_hello(const Message& message);
std::string read_refusal(const Message& message);
Error read_error(const Message& message);
WaitChain read_wait_chain(const Message& message);

}  // namespace lp
