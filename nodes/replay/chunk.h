#pragma once
// The memory of the steps in a replay server. A chunk is some steps that one writer appended one after the other. Items
// refer to parts of chunks, so a step is stored once, however many items have it. A chunk lives as long as an item of
// any table, or a waiting insert, refers to it.
//
// A ChunkStore is owned by a server, and outlives its tables. Thread-safe. With a limit and a directory, it moves the
// oldest chunks from memory to the disk.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "lp/base/array.h"
#include "nodes/replay/chunk_index.h"
#include "nodes/replay/replay_messages.h"
#include "nodes/replay/spill.h"

namespace lp::replay {

class ChunkStore;

class Chunk : public std::enable_shared_from_this<Chunk> {
 public:
  Chunk(ChunkStore& store, ChunkData data, std::size_t row_bytes, std::size_t tables);
  ~Chunk();
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  std::uint64_t key() const { return key_; }
  std::uint32_t steps() const { return steps_; }
  std::size_t row_bytes() const { return row_bytes_; }
  bool compressed() const { return compressed_; }
  std::size_t size() const { return size_; }  // bytes, as they are stored
  // The bytes as they are stored, or a part of them, wherever they are.
  Buffer bytes() const { return slice(0, size_); }
  Buffer slice(std::size_t begin, std::size_t size) const;
  // Adds a part of them at the end of `to`.
  void append(std::size_t begin, std::size_t size, std::vector<std::byte>& to) const;
  // Brings bytes in memory, if they may be read without a lock, to the caches: they are read soon.
  void prefetch(std::size_t begin) const;
  // How many pieces of items of a table refer to the chunk; under that table's lock.
  std::uint32_t& uses(std::uint32_t table) { return uses_[table]; }

 private:
  friend class ChunkStore;

  ChunkStore& store_;
  const std::uint64_t key_;
  const std::uint32_t steps_;
  const std::size_t row_bytes_;
  const bool compressed_;
  const std::size_t size_;
  Buffer bytes_;  // with spilling: under the store's lock
  std::vector<std::uint32_t> uses_;
  bool on_disk_ = false;
  Chunk* older_ = nullptr;  // among those in memory, if the store spills
  Chunk* newer_ = nullptr;
};

using ChunkRef = std::shared_ptr<Chunk>;  // shared by items of all tables

// Some steps of a chunk.
struct Piece {
  ChunkRef chunk{};
  std::uint32_t first = 0;
  std::uint32_t steps = 0;
};

class ChunkStore {
 public:
  // At most `memory` bytes of chunks are in memory, the rest on the disk; 0: all are in memory.
  ChunkStore(std::size_t tables, std::uint64_t memory, const std::filesystem::path& directory);

  // Stores a chunk, in memory of this process. `row_bytes` is the size of a step. Error::overloaded when the disk has
  // no room for what must move there: then the chunk is not stored.
  ChunkRef add(ChunkData data, std::size_t row_bytes);
  // Returns the chunk with this key, or null when no item refers to it any more.
  ChunkRef find(std::uint64_t key);

  std::uint64_t bytes_in_memory() const { return in_memory_.load(std::memory_order_relaxed); }
  std::uint64_t bytes_on_disk() const { return on_disk_.load(std::memory_order_relaxed); }

 private:
  friend class Chunk;

  void make_room();
  void move_to_disk(Chunk& chunk);
  void link(Chunk& chunk);
  void unlink(Chunk& chunk);
  void forget(Chunk& chunk);

  const std::size_t tables_;
  const std::uint64_t memory_;
  std::optional<Spill> spill_{};
  mutable std::mutex mutex_{};
  ChunkIndex by_key_{};
  Chunk* oldest_ = nullptr;
  Chunk* newest_ = nullptr;
  std::atomic<std::uint64_t> in_memory_ = 0;
  std::atomic<std::uint64_t> on_disk_ = 0;
};

}  // namespace lp::replay
