#include "lp/wire/envelope.h"

#include <flatbuffers/flatbuffers.h>

#include <cstring>
#include <utility>
#include <vector>

#include "lp/wire/envelope_generated.h"
#include "lp/wire/flatbuffer_text.h"

namespace lp {
namespace {

using wire::text_of;
constexpr std::uint16_t kMagic = 0x706c;
constexpr std::uint8_t kVersion = 2;
constexpr std::size_t kLargestTable = 1 << 20;  // largest size in bytes of a hello, a refusal or an error
constexpr std::size_t kLongestText = 64 << 10;  // a longer text of an error is cut off

[[noreturn]] void malformed(const std::string& what) { throw Error(ErrorKind::failed, "malformed message: " + what); }

fb::Prefix prefix(PacketKind kind, std::size_t arrays, std::size_t path = 0) {
  return {kMagic,
          kVersion,
          static_cast<std::uint8_t>(kind),
          static_cast<std::uint16_t>(arrays),
          static_cast<std::uint8_t>(path),
          0};
}

// Copies a head out, because messages come at any address.
template <class Head>
Head read_head(const Message& message) {
  if (message.body.size() < sizeof(Head)) malformed("it is shorter than its header");
  Head head;
  std::memcpy(&head, message.body.data(), sizeof head);
  return head;
}

// A verified table behind a prefix, copied to an aligned address.
template <class Table>
class TableIn {
 public:
  TableIn(const Message& message, std::size_t offset) {
    if (message.body.size() <= offset) malformed("it has no content");
    if (message.body.size() > kLargestTable) malformed("its table is larger than 1 MiB");
    bytes_ = Buffer::copy_of(message.body.bytes().subspan(offset));
    flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(bytes_.data()), bytes_.size(), 16, 4096);
    if (!verifier.VerifyBuffer<Table>(nullptr)) malformed("its table is invalid");
  }
  const Table* operator->() const { return flatbuffers::GetRoot<Table>(bytes_.data()); }

 private:
  Buffer bytes_;
};

template <class Head>
Message table_packet(const Head& head, const flatbuffers::FlatBufferBuilder& builder) {
  Message message;
  message.body = Buffer::uninitialized(sizeof head + builder.GetSize());
  const auto out = message.body.edit();
  std::memcpy(out.data(), &head, sizeof head);
  std::memcpy(out.data() + sizeof head, builder.GetBufferPointer(), builder.GetSize());
  return message;
}

}  // namespace

std::size_t call_front(std::size_t path_length) { return sizeof(fb::CallHead) + path_length * sizeof(std::uint32_t); }
std::size_t reply_front() { return sizeof(fb::ReplyHead); }

void write_call(Message& message, PacketKind kind, const CallHead& head, std::span<const std::uint32_t> path) {
  const fb::CallHead out(prefix(kind, message.arrays.size(), path.size()), head.call, head.method, head.remaining,
                         head.sequence, head.chain, head.span, head.node, head.incarnation, head.caller,
                         head.caller_incarnation);
  const auto body = message.body.edit();
  std::memcpy(body.data(), &out, sizeof out);
  if (!path.empty()) std::memcpy(body.data() + sizeof out, path.data(), path.size_bytes());
}

void write_reply(Message& message, PacketKind kind, const ReplyHead& head) {
  const fb::ReplyHead out(prefix(kind, message.arrays.size()), head.call, head.amount);
  std::memcpy(message.body.edit().data(), &out, sizeof out);
}

Message hello_packet(const Hello& hello) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::CreateHelloDirect(builder, hello.run.c_str(), hello.token.c_str(), hello.fingerprint));
  return table_packet(prefix(PacketKind::hello, 0), builder);
}

Message welcome_packet() {
  const fb::Prefix head = prefix(PacketKind::welcome, 0);
  return {.body = Buffer::copy_of(std::as_bytes(std::span(&head, 1)))};
}

Message refusal_packet(const std::string& text) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::CreateRefusalDirect(builder, text.c_str()));
  return table_packet(prefix(PacketKind::refusal, 0), builder);
}

Message error_packet(std::uint64_t call, const Error& error) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<flatbuffers::String>> path;
  for (const std::string& node : error.path()) path.push_back(builder.CreateString(node));
  const ErrorOrigin& origin = error.origin();
  builder.Finish(fb::CreateFailureDirect(builder, static_cast<std::uint8_t>(error.kind()),
                                         error.text().substr(0, kLongestText).c_str(),
                                         origin.type.substr(0, kLongestText).c_str(), origin.node.c_str(),
                                         origin.method.c_str(), &path, origin.may_have_run));
  return table_packet(fb::ReplyHead(prefix(PacketKind::error, 0), call, 0), builder);
}

Message signal_packet(PacketKind kind, const ReplyHead& head) {
  const fb::ReplyHead out(prefix(kind, 0), head.call, head.amount);
  return {.body = Buffer::copy_of(std::as_bytes(std::span(&out, 1)))};
}

Message ask_packet(const AskHead& head) {
  const fb::AskHead out(prefix(PacketKind::ask, 0), head.call, head.bytes, head.node, head.incarnation);
  return {.body = Buffer::copy_of(std::as_bytes(std::span(&out, 1)))};
}

Message wait_chain_packet(std::uint64_t call, const WaitChain& all) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<fb::WaitLink>> list;
  for (const WaitLink& one : all) {
    list.push_back(fb::CreateWaitLinkDirect(builder, one.node, one.work.c_str(), one.caller, one.age.count(),
                                            one.awaited, one.method.c_str()));
  }
  builder.Finish(fb::CreateWaitChainDirect(builder, &list));
  return table_packet(fb::ReplyHead(prefix(PacketKind::wait_chain, 0), call, 0), builder);
}

PacketKind read_kind(const Message& message) {
  const auto head = read_head<fb::Prefix>(message);
  if (head.magic() != kMagic) malformed("it does not begin like a message of lp");
  if (head.version() != kVersion) {
    malformed("its format is version " + std::to_string(head.version()) + ", this is " + std::to_string(kVersion));
  }
  if (head.arrays() != message.arrays.size()) {
    malformed("it announces " + std::to_string(head.arrays()) + " arrays but has " +
              std::to_string(message.arrays.size()));
  }
  const std::uint8_t kind = head.kind();
  if (kind < static_cast<std::uint8_t>(PacketKind::hello) || kind > static_cast<std::uint8_t>(PacketKind::wait_chain)) {
    malformed("kind " + std::to_string(kind) + " is unknown");
  }
  return static_cast<PacketKind>(kind);
}

std::size_t read_call(const Message& message, CallHead& head, std::span<std::uint32_t> path, std::size_t& path_length) {
  const auto in = read_head<fb::CallHead>(message);
  path_length = in.prefix().path();
  if (path_length > path.size()) malformed("its call path is too long");
  const std::size_t front = call_front(path_length);
  if (message.body.size() < front) malformed("it ends within its call path");
  if (path_length > 0) std::memcpy(path.data(), message.body.data() + sizeof in, path_length * sizeof path[0]);
  head = {.call = in.call(),
          .method = in.method(),
          .remaining = in.remaining(),
          .sequence = in.sequence(),
          .chain = in.chain(),
          .span = in.span(),
          .node = in.node(),
          .incarnation = in.incarnation(),
          .caller = in.caller(),
          .caller_incarnation = in.caller_incarnation()};
  return front;
}

std::size_t read_reply(const Message& message, ReplyHead& head) {
  const auto in = read_head<fb::ReplyHead>(message);
  head = {.call = in.call(), .amount = in.amount()};
  return sizeof in;
}

AskHead read_ask(const Message& message) {
  const auto in = read_head<fb::AskHead>(message);
  return {.call = in.call(), .bytes = in.bytes(), .node = in.node(), .incarnation = in.incarnation()};
}

Hello read_hello(const Message& message) {
  const TableIn<fb::Hello> table(message, sizeof(fb::Prefix));
  return {.run = text_of(table->run()), .token = text_of(table->token()), .fingerprint = table->fingerprint()};
}

std::string read_refusal(const Message& message) {
  const TableIn<fb::Refusal> table(message, sizeof(fb::Prefix));
  return text_of(table->text());
}

Error read_error(const Message& message) {
  const TableIn<fb::Failure> table(message, sizeof(fb::ReplyHead));
  if (table->kind() > static_cast<std::uint8_t>(ErrorKind::stopped)) malformed("an error of unknown kind");
  ErrorOrigin origin{.type = text_of(table->type()),
                     .node = text_of(table->node()),
                     .method = text_of(table->method()),
                     .path = {},
                     .may_have_run = table->may_have_run()};
  if (table->path() != nullptr) {
    for (const flatbuffers::String* node : *table->path()) origin.path.push_back(text_of(node));
  }
  return Error(static_cast<ErrorKind>(table->kind()), text_of(table->text()), std::move(origin));
}

WaitChain read_wait_chain(const Message& message) {
  const TableIn<fb::WaitChain> table(message, sizeof(fb::ReplyHead));
  WaitChain all;
  if (table->all() == nullptr) return all;
  if (table->all()->size() > kMostWaitLinks) malformed("it lists more nodes than a message may");
  for (const fb::WaitLink* one : *table->all()) {
    all.push_back({.node = one->node(),
                   .work = text_of(one->work()),
                   .caller = one->caller(),
                   .age = Duration(one->age()),
                   .awaited = one->awaited(),
                   .method = text_of(one->method())});
  }
  return all;
}

}  // namespace lp
