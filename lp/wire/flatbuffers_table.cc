#include "lp/wire/flatbuffers_table.h"

#include <flatbuffers/flatbuffers.h>

namespace lp::wire {
namespace {

constexpr std::size_t kAlignment = 16;  // the verifier of FlatBuffers 2 accepts odd addresses; lp does not
constexpr flatbuffers::uoffset_t kMaxDepth = 64;
constexpr flatbuffers::uoffset_t kMaxTables = 1'000'000;

const std::uint8_t* start(const Buffer& buffer) { return reinterpret_cast<const std::uint8_t*>(buffer.data()); }

}  // namespace

const void* table_root(const Buffer& buffer) {
  return start(buffer) + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(start(buffer));
}

Buffer read_table(Reader& reader, VerifyTable* verify) {
  Buffer buffer = reader.shared_array(reader.number<std::uint64_t>(), 1, kAlignment);
  if (buffer.empty()) return buffer;
  if (buffer.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) reader.fail("a FlatBuffers table has 2 GiB or more");
  flatbuffers::Verifier verifier(start(buffer), buffer.size(), kMaxDepth, kMaxTables);
  const flatbuffers::uoffset_t root = verifier.VerifyOffset(0);
  if (root == 0 || !verify(start(buffer) + root, verifier)) reader.fail("a FlatBuffers table is malformed");
  return buffer;
}

}  // namespace lp::wire
