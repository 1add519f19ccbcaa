#pragma once
// Pairs in a fixed amount of memory, sorted by partition and key; pairs of equal keys keep their order. Pairs grow from
// one end of the memory, their index from the other. So the budget is exact, and nothing is allocated for a pair.
//
// Owned by a task; one thread.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/memory_block.h"

namespace lp::dataflow {

// The index of a pair. Sorting touches a pair itself only when the prefixes of two keys are equal.
struct SortEntry {
  std::uint64_t prefix = 0;  // the key's
  std::uint32_t at = 0;      // place of the pair, in units of kUnit; grows in the order of insertion
  std::uint32_t partition = 0;
};

// Sorts by partition, prefix, then by `key_of(at)`, then by `at`. The radix sort goes by the partition, then by the
// bytes of the prefix in place ("American flag", McIlroy, Bostic, McIlroy: Engineering radix sort, 1993), and small or
// equal parts are sorted by comparison.
class EntrySorter {
 public:
  // A pair at `at` begins with its key's size and its value's size, of 32 bits each; then come key and value.
  EntrySorter(const char* pairs, std::uint32_t partitions) : pairs_(pairs), partitions_(partitions) {}
  void sort(std::span<SortEntry> entries) const;

 private:
  void sort_by_byte(std::span<SortEntry> entries, int shift) const;
  void sort_by_comparison(std::span<SortEntry> entries) const;

  const char* pairs_;
  std::uint32_t partitions_;
};

class SortBuffer {
 public:
  static constexpr std::size_t kUnit = 4;
  static constexpr std::size_t kMostBytes = kUnit << 32;
  static constexpr std::size_t kMostPair = 0xffff'ffff;  // bytes: their sizes have 32 bits

  // Memory of so many bytes, which the system gives when it is first used.
  SortBuffer(std::size_t bytes, std::uint32_t partitions);

  // Returns false, and changes nothing, when there is no room.
  bool add(std::uint32_t partition, const Pair& pair) {
    const std::size_t size = kHead + pair.key.size() + pair.value.size();
    const std::size_t padded = (size + kUnit - 1) / kUnit * kUnit;
    if (size > kMostPair || used_ + padded + (count_ + 1) * sizeof(SortEntry) > memory_.size()) return false;
    char* const at = memory_.data() + used_;
    const std::uint32_t sizes[2] = {static_cast<std::uint32_t>(pair.key.size()),
                                    static_cast<std::uint32_t>(pair.value.size())};
    std::memcpy(at, sizes, kHead);
    if (!pair.key.empty()) std::memcpy(at + kHead, pair.key.data(), pair.key.size());
    if (!pair.value.empty()) std::memcpy(at + kHead + pair.key.size(), pair.value.data(), pair.value.size());
    ++count_;
    entries_end()[-static_cast<std::ptrdiff_t>(count_)] = {
        .prefix = prefix_of(pair.key), .at = static_cast<std::uint32_t>(used_ / kUnit), .partition = partition};
    used_ += padded;
    return true;
  }
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  void clear() { used_ = count_ = 0; }

  // Sorts, and returns the index; pair_at reads the pairs.
  std::span<const SortEntry> sorted();
  Pair pair_at(const SortEntry& entry) const {
    const char* const at = memory_.data() + std::size_t{entry.at} * kUnit;
    std::uint32_t sizes[2];
    std::memcpy(sizes, at, kHead);
    return {{at + kHead, sizes[0]}, {at + kHead + sizes[0], sizes[1]}};
  }

 private:
  static constexpr std::size_t kHead = 2 * sizeof(std::uint32_t);
  SortEntry* entries_end() { return reinterpret_cast<SortEntry*>(memory_.data() + memory_.size()); }

  MemoryBlock memory_;
  const std::uint32_t partitions_;
  std::size_t used_ = 0;   // bytes of pairs
  std::size_t count_ = 0;  // number of pairs
};

}  // namespace lp::dataflow
