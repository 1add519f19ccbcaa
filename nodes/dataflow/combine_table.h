#pragma once
// Pairs by key in a bounded amount of memory, where the values of equal keys are combined as they come: hash
// aggregation. A key, its value and its hash lie next to one another, so that finding a key touches two cache lines.
//
// Owned by a task; one thread.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/memory_block.h"
#include "nodes/dataflow/partitioner.h"
#include "nodes/dataflow/sort_buffer.h"

namespace lp::dataflow {

class CombineTable {
 public:
  // At most so many bytes. All values have this size.
  CombineTable(std::size_t bytes, std::size_t value_size);

  // Returns the value of a key. It is uninitialized, and `added` is true, when the key was not there. Null when there
  // is no room for it.
  char* find_or_add(std::string_view key, bool& added) {
    const std::uint64_t hash = key_hash(key);
    char* const found = find(key, hash);
    added = false;
    return found != nullptr ? found : add(key, hash, added);
  }
  // Null when there is no such key.
  const char* find(std::string_view key) { return find(key, key_hash(key)); }
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }

  // Sorts the pairs by partition and key. Afterwards the table has no slots: read the pairs, then clear it.
  std::span<const SortEntry> sorted(const Partitioner& partitioner);
  Pair pair_at(const SortEntry& entry) const {
    const char* const pair = pairs_.data() + std::size_t{entry.at} * SortBuffer::kUnit;
    const std::string_view key = key_of_pair(pair);
    return {key, {pair + kHead + key.size(), value_size_}};
  }
  void clear();

 private:
  struct Slot {
    std::uint32_t tag = 0;  // the upper half of the hash
    std::uint32_t at = 0;   // place of the pair, in units; 0: none
  };
  // A pair is laid out as in a SortBuffer: the sizes, then key and value.
  static constexpr std::size_t kHead = 2 * sizeof(std::uint32_t);
  static constexpr std::size_t kFirstSlots = std::size_t{1} << 12;

  static std::string_view key_of_pair(const char* pair) {
    std::uint32_t size = 0;
    std::memcpy(&size, pair, sizeof(size));
    return {pair + kHead, size};
  }
  Slot* slots() { return reinterpret_cast<Slot*>(slots_.data()); }
  char* pair_at(std::uint32_t at) { return pairs_.data() + std::size_t{at} * SortBuffer::kUnit; }
  char* find(std::string_view key, std::uint64_t hash) {
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    for (std::size_t slot = hash & mask_;; slot = (slot + 1) & mask_) {
      const Slot& one = slots()[slot];
      if (one.at == 0) return nullptr;
      if (one.tag != tag) continue;
      char* const pair = pair_at(one.at);
      if (key_of_pair(pair) == key) return pair + kHead + key.size();
    }
  }
  char* add(std::string_view key, std::uint64_t hash, bool& added);
  bool grow();
  void put(std::uint64_t hash, std::uint32_t at);

  const std::size_t bytes_;
  const std::size_t value_size_;
  MemoryBlock pairs_;
  MemoryBlock slots_;
  std::size_t mask_ = kFirstSlots - 1;
  std::size_t used_ = SortBuffer::kUnit;  // bytes of pairs; 0 is no place of a pair
  std::size_t count_ = 0;
};

}  // namespace lp::dataflow
