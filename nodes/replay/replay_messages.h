#pragma once
// The messages between a replay server and its clients. A message has a whole batch: one call inserts or samples
// hundreds of items. TrajectoryWriter and Sampler make and read them. Values.

#include <cstdint>
#include <string>
#include <vector>

#include "lp/base/array.h"
#include "lp/wire/codec.h"
#include "nodes/replay/columns.h"
#include "nodes/replay/rate_limiter.h"

namespace lp::replay {

// Steps that a writer appended one after the other.
struct ChunkData {
  std::uint64_t key = 0;  // a name that no other chunk has; 0: no later request refers to the chunk
  std::uint32_t steps = 0;
  bool compressed = false;      // by zstd
  Array<std::uint8_t> bytes{};  // rows, in the layout of the table's columns
};

// Some steps of a chunk.
struct PieceName {
  std::uint32_t chunk = 0;  // position among the chunks of the request, the known ones after the new ones
  std::uint32_t first = 0;
  std::uint32_t steps = 0;
};

struct NewItem {
  double priority = 1;
  std::uint64_t pieces = 1;  // how many of the request's pieces are its steps, the first one first
};

struct InsertRequest {
  std::uint32_t table = 0;             // position among the server's tables
  std::vector<ChunkData> chunks{};     // new chunks
  std::vector<std::uint64_t> known{};  // keys of chunks that were sent before
  std::vector<NewItem> items{};
  std::vector<PieceName> pieces{};
};

struct InsertReply {
  std::uint32_t accepted = 0;  // the first so many items are in the table, at least one unless `missing`
  bool missing = false;        // the server does not have a known chunk any more: send it again. No item was inserted
};

struct SampleRequest {
  static constexpr std::uint32_t kMostItems = 1 << 16;

  std::uint32_t table = 0;
  std::uint32_t count = 1;  // at most so many items, and at most kMostItems
};

struct SampledItem {
  std::uint64_t key = 0;  // for updates; the first 8 bits are the server's number in its group
  double probability = 1;
  double priority = 0;
  std::uint64_t table_size = 0;     // items in the table at this moment
  std::uint32_t times_sampled = 0;  // this time included
  std::uint32_t pieces = 1;
};

struct SampledPiece {
  std::uint32_t steps = 0;
  std::uint32_t first = 0;        // its first step in the chunk, if the chunk is sent compressed
  std::uint32_t chunk_steps = 0;  // steps of the chunk that is sent compressed; 0: the bytes are the rows
  std::uint32_t bytes = 0;
};

// Sampled items. Small pieces are copied one behind the other, so that a batch of them is one array; large ones share
// the memory of the table.
struct Samples {
  static constexpr std::size_t kLarge = 1024;  // a piece of so many bytes is shared, a smaller one copied

  std::vector<SampledItem> items{};
  std::vector<SampledPiece> pieces{};
  Buffer small{};
  std::vector<Buffer> large{};
};

// A change of the priority of an item.
struct PriorityUpdate {
  std::uint64_t key = 0;
  double priority = 0;
};

struct TableInfo {
  std::string name{};
  Columns columns{};
  std::uint64_t size = 0;   // items
  std::uint64_t bytes = 0;  // bytes of their chunks
  RateCounts counts{};
  std::string state{};  // what a waiting insert or sample waits for
};

struct ServerInfo {
  std::uint32_t shard = 0;  // number in its group: the first 8 bits of its keys
  std::uint64_t bytes_in_memory = 0;
  std::uint64_t bytes_on_disk = 0;
  std::vector<TableInfo> tables{};
};

}  // namespace lp::replay

template <>
struct lp::Codec<lp::replay::Samples> {
  static void encode(lp::Writer& out, const lp::replay::Samples& samples);
  static lp::replay::Samples decode(lp::Reader& in);
  using Parts = lp::TypeList<std::vector<lp::replay::SampledItem>, std::vector<lp::replay::SampledPiece>>;
  static std::string shape() { return "lp::replay::Samples 1"; }
};
