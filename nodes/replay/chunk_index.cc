#include "nodes/replay/chunk_index.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace lp::replay {

// A writer numbers its chunks. Four that follow one another are neighbours, which share a line of the cache. Such
// groups are spread over the table (Fibonacci hashing: Knuth, The Art of Computer Programming, volume 3, section 6.4).
std::size_t ChunkIndex::home(std::uint64_t key) const {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
  constexpr int kGroup = 2;                              // bits
  const int bits = std::countr_zero(slots_.size()) - kGroup;
  return ((key >> kGroup) * kGolden >> (64 - bits)) << kGroup | (key & ((1 << kGroup) - 1));
}

std::size_t ChunkIndex::slot_of(std::uint64_t key) const {
  std::size_t slot = home(key);
  while (slots_[slot].chunk != nullptr && slots_[slot].key != key) slot = next(slot);
  return slot;
}

Chunk* ChunkIndex::find(std::uint64_t key) const { return slots_.empty() ? nullptr : slots_[slot_of(key)].chunk; }

void ChunkIndex::add(std::uint64_t key, Chunk& chunk) {
  if (2 * (used_ + 1) > slots_.size()) grow();
  Slot& slot = slots_[slot_of(key)];
  if (slot.chunk == nullptr) ++used_;
  slot = {.key = key, .chunk = &chunk};
}

// The entries behind the removed one move up, as far as they may (Knuth, section 6.4, algorithm R), so that a search
// may end at the first free slot.
void ChunkIndex::remove(std::uint64_t key, const Chunk& chunk) {
  if (slots_.empty()) return;
  std::size_t free = slot_of(key);
  if (slots_[free].chunk != &chunk) return;
  const auto distance = [this](std::size_t from, std::size_t to) { return (to - from) & (slots_.size() - 1); };
  for (std::size_t slot = next(free); slots_[slot].chunk != nullptr; slot = next(slot)) {
    if (distance(home(slots_[slot].key), slot) < distance(free, slot)) continue;
    slots_[free] = slots_[slot];
    free = slot;
  }
  slots_[free] = {};
  --used_;
}

void ChunkIndex::grow() {
  constexpr std::size_t kFirst = 64;
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(std::max(kFirst, 2 * slots_.size())));
  for (const Slot& one : before) {
    if (one.chunk != nullptr) slots_[slot_of(one.key)] = one;
  }
}

}  // namespace lp::replay
