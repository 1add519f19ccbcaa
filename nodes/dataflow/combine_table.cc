#include "nodes/dataflow/combine_table.h"

#include <algorithm>

namespace lp::dataflow {

CombineTable::CombineTable(std::size_t bytes, std::size_t value_size)
    : bytes_(std::min(bytes, SortBuffer::kMostBytes)),
      value_size_(value_size),
      pairs_(bytes_),
      slots_(kFirstSlots * sizeof(Slot)) {}

void CombineTable::put(std::uint64_t hash, std::uint32_t at) {
  std::size_t slot = hash & mask_;
  while (slots()[slot].at != 0) slot = (slot + 1) & mask_;
  slots()[slot] = {.tag = static_cast<std::uint32_t>(hash >> 32), .at = at};
}

char* CombineTable::add(std::string_view key, std::uint64_t hash, bool& added) {
  const std::size_t padded =
      (kHead + key.size() + value_size_ + SortBuffer::kUnit - 1) / SortBuffer::kUnit * SortBuffer::kUnit;
  if (2 * (count_ + 1) > mask_ + 1 && !grow()) return nullptr;
  if (used_ + padded + slots_.size() > bytes_) return nullptr;
  const auto at = static_cast<std::uint32_t>(used_ / SortBuffer::kUnit);
  char* const pair = pair_at(at);
  const std::uint32_t sizes[2] = {static_cast<std::uint32_t>(key.size()), static_cast<std::uint32_t>(value_size_)};
  std::memcpy(pair, sizes, kHead);
  if (!key.empty()) std::memcpy(pair + kHead, key.data(), key.size());
  put(hash, at);
  used_ += padded;
  ++count_;
  added = true;
  return pair + kHead + key.size();
}

// Doubles the slots. Both copies count meanwhile.
bool CombineTable::grow() {
  if (used_ + 3 * slots_.size() > bytes_) return false;
  slots_ = MemoryBlock(2 * slots_.size());
  mask_ = 2 * mask_ + 1;
  for (std::size_t at = SortBuffer::kUnit; at < used_;) {
    const std::string_view key = key_of_pair(pairs_.data() + at);
    put(key_hash(key), static_cast<std::uint32_t>(at / SortBuffer::kUnit));
    at += (kHead + key.size() + value_size_ + SortBuffer::kUnit - 1) / SortBuffer::kUnit * SortBuffer::kUnit;
  }
  return true;
}

// The index takes the memory of the slots: two of them for each pair at least.
std::span<const SortEntry> CombineTable::sorted(const Partitioner& partitioner) {
  static_assert(sizeof(SortEntry) == 2 * sizeof(Slot));
  const std::span<SortEntry> entries(reinterpret_cast<SortEntry*>(slots_.data()), count_);
  std::size_t at = SortBuffer::kUnit;
  for (SortEntry& one : entries) {
    const std::string_view key = key_of_pair(pairs_.data() + at);
    one = {.prefix = prefix_of(key),
           .at = static_cast<std::uint32_t>(at / SortBuffer::kUnit),
           .partition = partitioner(key)};
    at += (kHead + key.size() + value_size_ + SortBuffer::kUnit - 1) / SortBuffer::kUnit * SortBuffer::kUnit;
  }
  EntrySorter(pairs_.data(), partitioner.partitions()).sort(entries);
  return entries;
}

void CombineTable::clear() {
  std::memset(slots_.data(), 0, slots_.size());
  used_ = SortBuffer::kUnit;
  count_ = 0;
}

}  // namespace lp::dataflow
