#include "launchers/control/control_messages.h"

#include "launchers/control/control_generated.h"

namespace lp::launch {
namespace {

constexpr flatbuffers::uoffset_t kDeepest = 16;
constexpr flatbuffers::uoffset_t kMostTables = 1'000'000;

// The verifier accepts a member of a union that it does not know, because a newer sender may know it. Here both ends
// are one binary.
template <class Union>
bool is_known(Union type) {
  return type > Union::NONE && type <= Union::MAX;
}

// For the alignment of a vector, the verifier checks only the four bytes of its length.
bool is_aligned(const control::Measured& measured, std::span<const std::uint8_t> bytes) {
  if (measured.calls() == nullptr) return true;
  for (const control::CallCount* call : *measured.calls()) {
    if (call->latency() == nullptr) continue;
    if ((call->latency()->Data() - bytes.data()) % static_cast<std::ptrdiff_t>(sizeof(std::uint64_t)) != 0)
      return false;
  }
  return true;
}

}  // namespace

std::vector<std::uint8_t> pack_message(const control::MessageT& message) {
  flatbuffers::FlatBufferBuilder builder(256);
  control::FinishMessageBuffer(builder, control::Message::Pack(builder, &message));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

const control::Message* unpack(std::span<const std::uint8_t> bytes) {
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), kDeepest, kMostTables);
  if (!control::VerifyMessageBuffer(verifier)) return nullptr;
  const control::Message* const message = control::GetMessage(bytes.data());
  if (!is_known(message->body_type())) return nullptr;
  if (const control::NodeEvent* event = message->body_as_NodeEvent())
    return is_known(event->what_type()) ? message : nullptr;
  const control::Measured* const measured = message->body_as_Measured();
  return measured == nullptr || is_aligned(*measured, bytes) ? message : nullptr;
}

}  // namespace lp::launch
