// The index of chunks by their keys, beside a map of the standard library.

#include "nodes/replay/chunk_index.h"

#include <gtest/gtest.h>

#include <unordered_map>
#include <vector>

#include "lp/base/random.h"
#include "nodes/replay/chunk.h"

namespace lp::replay {
namespace {

TEST(ChunkIndex, FindsWhatAMapFindsThroughRandomChanges) {
  ChunkStore store(/*tables=*/1, /*memory=*/0, "");
  std::vector<ChunkRef> chunks;
  for (int i = 0; i < 16; ++i) chunks.push_back(store.add({.key = 0, .steps = 1, .compressed = false, .bytes = {}}, 8));
  Random random(1, "chunk index");
  // Some writers, each with keys that follow one another, and some with keys that differ only in their upper bits.
  std::vector<std::uint64_t> keys;
  for (std::uint64_t writer = 0; writer < 40; ++writer) {
    const std::uint64_t first = random();
    const int shift = writer < 30 ? 0 : 40;
    for (std::uint64_t i = 0; i < 50; ++i) keys.push_back(first + (i << shift));
  }
  ChunkIndex index;
  std::unordered_map<std::uint64_t, Chunk*> map;
  EXPECT_EQ(index.find(keys[0]), nullptr);
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t key = keys[random.below(keys.size())];
    Chunk& chunk = *chunks[random.below(chunks.size())];
    const bool fills = i / 30'000 % 2 == 0;  // the table fills and empties in turns
    if (random.below(4) < (fills ? 3U : 1U)) {
      index.add(key, chunk);
      map[key] = &chunk;
    } else if (const auto found = map.find(key); found != map.end()) {
      Chunk& its = *found->second;
      if (&its != &chunk) index.remove(key, chunk);  // no effect: the key belongs to another chunk
      ASSERT_EQ(index.find(key), &its);
      index.remove(key, its);
      map.erase(found);
    }
    const std::uint64_t other = keys[random.below(keys.size())];
    const auto expected = map.find(other);
    ASSERT_EQ(index.find(other), expected == map.end() ? nullptr : expected->second) << "change " << i;
  }
  for (const std::uint64_t key : keys) {
    const auto expected = map.find(key);
    EXPECT_EQ(index.find(key), expected == map.end() ? nullptr : expected->second);
  }
}

}  // namespace
}  // namespace lp::replay
