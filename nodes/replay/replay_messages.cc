#include "nodes/replay/replay_messages.h"

#include <cstring>

namespace lp {
namespace {

using replay::Samples;

// Plain values go into the body, whatever their number: a message has few frames, and large pieces need them.
template <class T>
void encode_plain(Writer& out, const std::vector<T>& values) {
  static_assert(wire::Plain<T>);
  out.count(values.size());
  out.bytes(values.data(), values.size() * sizeof(T));
}

template <class T>
std::vector<T> decode_plain(Reader& in) {
  const std::size_t count = in.count();
  if (count > in.left() / sizeof(T)) in.fail("more values are announced than there are bytes");
  std::vector<T> values(count);
  const std::size_t bytes = count * sizeof(T);
  if (count > 0) std::memcpy(values.data(), in.bytes(bytes).data(), bytes);
  return values;
}

}  // namespace

void Codec<Samples>::encode(Writer& out, const Samples& samples) {
  encode_plain(out, samples.items);
  encode_plain(out, samples.pieces);
  out.count(samples.small.size());
  out.array(samples.small);
  for (const Buffer& one : samples.large) out.array(one);
}

Samples Codec<Samples>::decode(Reader& in) {
  Samples samples;
  samples.items = decode_plain<replay::SampledItem>(in);
  samples.pieces = decode_plain<replay::SampledPiece>(in);
  samples.small = in.shared_array(in.number<std::uint64_t>(), 1, alignof(std::uint64_t));
  for (const replay::SampledPiece& piece : samples.pieces) {
    if (piece.bytes >= Samples::kLarge) {
      samples.large.push_back(in.shared_array(piece.bytes, 1, alignof(std::uint64_t)));
    }
  }
  return samples;
}

}  // namespace lp
