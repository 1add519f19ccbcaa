#pragma once
// The chunks of a ChunkStore by their keys: a hash table with open addressing, whose entries lie in the table itself.
// It has hundreds of thousands of entries that no cache has, and an insert changes two of them. The table of the
// standard library reads several places in memory for each. Owned by a ChunkStore; used under its lock.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lp::replay {

class Chunk;

class ChunkIndex {
 public:
  // Returns the chunk with this key; null when there is none.
  Chunk* find(std::uint64_t key) const;
  // Adds a chunk, in place of one with the same key.
  void add(std::uint64_t key, Chunk& chunk);
  // Removes a chunk. No effect when another one is in its place.
  void remove(std::uint64_t key, const Chunk& chunk);

 private:
  struct Slot {
    std::uint64_t key = 0;
    Chunk* chunk = nullptr;  // null: the slot is free
  };

  std::size_t home(std::uint64_t key) const;
  std::size_t next(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }
  // The slot of this key, or the free one where it would go.
  std::size_t slot_of(std::uint64_t key) const;
  void grow();

  std::vector<Slot> slots_{};  // a power of two, of which at most half is used
  std::size_t used_ = 0;
};

}  // namespace lp::replay
