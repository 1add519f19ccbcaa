#include "nodes/replay/chunk.h"

#include <filesystem>
#include <utility>

namespace lp::replay {

Chunk::Chunk(ChunkStore& store, ChunkData data, std::size_t row_bytes, std::size_t tables)
    : store_(store),
      key_(data.key),
      steps_(data.steps),
      row_bytes_(row_bytes),
      compressed_(data.compressed),
      size_(data.bytes.size()),
      bytes_(data.bytes.buffer()),
      uses_(tables) {
  store_.in_memory_.fetch_add(size_, std::memory_order_relaxed);
}

Chunk::~Chunk() { store_.forget(*this); }

Buffer Chunk::slice(std::size_t begin, std::size_t size) const {
  if (!store_.spill_) return bytes_.slice(begin, size);
  const std::lock_guard lock(store_.mutex_);
  return bytes_.slice(begin, size);
}

void Chunk::append(std::size_t begin, std::size_t size, std::vector<std::byte>& to) const {
  const auto add = [&to, size](const std::byte* from) { to.insert(to.end(), from, from + size); };
  if (store_.spill_) {
    add(slice(begin, size).data());
  } else {
    add(bytes_.data() + begin);
  }
}

void Chunk::prefetch(std::size_t begin) const {
  if (!store_.spill_ && begin < size_) __builtin_prefetch(bytes_.data() + begin);
}

ChunkStore::ChunkStore(std::size_t tables, std::uint64_t memory, const std::filesystem::path& directory)
    : tables_(tables), memory_(memory) {
  if (memory > 0) spill_.emplace(directory);
}

ChunkRef ChunkStore::add(ChunkData data, std::size_t row_bytes) {
  // The memory of another process belongs to its maker, who needs it back.
  if (!data.bytes.buffer().owned()) data.bytes = Array<std::uint8_t>(Buffer::copy_of(data.bytes.buffer().bytes()));
  auto chunk = std::make_shared<Chunk>(*this, std::move(data), row_bytes, tables_);
  if (chunk->key() == 0 && !spill_) return chunk;
  const std::lock_guard lock(mutex_);
  if (spill_) {
    link(*chunk);
    make_room();
  }
  if (chunk->key() != 0) by_key_.add(chunk->key(), *chunk);
  return chunk;
}

ChunkRef ChunkStore::find(std::uint64_t key) {
  const std::lock_guard lock(mutex_);
  Chunk* const found = by_key_.find(key);
  return found == nullptr ? nullptr : found->weak_from_this().lock();  // null while its last item leaves it
}

void ChunkStore::make_room() {
  while (oldest_ != nullptr && bytes_in_memory() > memory_) move_to_disk(*oldest_);
}

void ChunkStore::move_to_disk(Chunk& chunk) {
  chunk.bytes_ = spill_->put(chunk.bytes_.bytes());
  chunk.on_disk_ = true;
  unlink(chunk);
  in_memory_.fetch_sub(chunk.size(), std::memory_order_relaxed);
  on_disk_.fetch_add(chunk.size(), std::memory_order_relaxed);
}

void ChunkStore::link(Chunk& chunk) {
  chunk.older_ = newest_;
  (newest_ == nullptr ? oldest_ : newest_->newer_) = &chunk;
  newest_ = &chunk;
}

void ChunkStore::unlink(Chunk& chunk) {
  (chunk.older_ == nullptr ? oldest_ : chunk.older_->newer_) = chunk.newer_;
  (chunk.newer_ == nullptr ? newest_ : chunk.newer_->older_) = chunk.older_;
}

void ChunkStore::forget(Chunk& chunk) {
  if (chunk.key() != 0 || spill_) {
    const std::lock_guard lock(mutex_);
    if (spill_ && !chunk.on_disk_) unlink(chunk);
    // When the last item had left the chunk, its writer may have sent it again.
    if (chunk.key() != 0) by_key_.remove(chunk.key(), chunk);
  }
  (chunk.on_disk_ ? on_disk_ : in_memory_).fetch_sub(chunk.size(), std::memory_order_relaxed);
}

}  // namespace lp::replay
