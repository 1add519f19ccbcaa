#include "launchers/messages.h"

#include "launchers/control_generated.h"

namespace lp::internal {
namespace {
constexpr flatbuffers::uoffset_t kDeepest = 16;
constexpr flatbuffers::uoffset_t kMostTables = 1'000'000;
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
  return known ? message : nullptr;
}

}  // namespace lp::internal
