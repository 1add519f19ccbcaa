#include "launchers/control/messages.h"

#include "launchers/control/control_generated.h"

namespace lp::internal {
namespace {

constexpr flatbuffers::uoffset_t kDeepest = 16;
constexpr flatbuffers::uoffset_t kMostTables = 1'000'000;

// The verifier looks only at the four bytes of a vector's length for whether it is aligned.
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
  // The verifier lets a body of an unknown kind pass, because a newer sender may know it; here both ends are one
  // binary.
  const bool known = message->body_type() > control::Body::NONE && message->body_type() <= control::Body::MAX;
  const control::Measured* const measured = message->body_as_Measured();
  return known && (measured == nullptr || is_aligned(*measured, bytes)) ? message : nullptr;
}

}  // namespace lp::internal
