#include "nodes/dataflow/sort_buffer.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lp::dataflow {
namespace {

constexpr std::size_t kSmall = 128;  // entries: below, comparisons are faster than counting 256 values

std::string_view key_at(const char* pairs, std::uint32_t at) {
  const char* const pair = pairs + std::size_t{at} * SortBuffer::kUnit;
  std::uint32_t size = 0;
  std::memcpy(&size, pair, sizeof(size));
  return {pair + 2 * sizeof(size), size};
}

// Moves each entry into the part of its digit, in place. Returns the ends of the parts.
template <class Digit>
void distribute(std::span<SortEntry> entries, std::span<std::size_t> ends, const Digit& digit) {
  for (const SortEntry& one : entries) ++ends[digit(one)];
  std::size_t sum = 0;
  std::array<std::size_t, 256> fixed_next;
  std::vector<std::size_t> many_next(ends.size() > fixed_next.size() ? ends.size() : 0);
  const std::span<std::size_t> next = many_next.empty() ? std::span(fixed_next) : std::span(many_next);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    next[i] = sum;
    sum += ends[i];
    ends[i] = sum;
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    while (next[i] < ends[i]) {
      SortEntry one = entries[next[i]];
      for (std::size_t to = digit(one); to != i; to = digit(one)) std::swap(one, entries[next[to]++]);
      entries[next[i]++] = one;
    }
  }
}

}  // namespace

void EntrySorter::sort(std::span<SortEntry> entries) const {
  if (partitions_ == 1) return sort_by_byte(entries, 56);
  std::vector<std::size_t> ends(partitions_);
  distribute(entries, ends, [](const SortEntry& one) { return std::size_t{one.partition}; });
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    sort_by_byte(entries.subspan(begin, end - begin), 56);
    begin = end;
  }
}

void EntrySorter::sort_by_byte(std::span<SortEntry> entries, int shift) const {
  if (entries.size() < kSmall || shift < 0) return sort_by_comparison(entries);
  std::array<std::size_t, 256> ends{};
  distribute(entries, ends, [shift](const SortEntry& one) { return std::size_t{(one.prefix >> shift) & 0xff}; });
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    if (end - begin > 1) sort_by_byte(entries.subspan(begin, end - begin), shift - 8);
    begin = end;
  }
}

void EntrySorter::sort_by_comparison(std::span<SortEntry> entries) const {
  std::sort(entries.begin(), entries.end(), [pairs = pairs_](const SortEntry& a, const SortEntry& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int order = key_at(pairs, a.at).compare(key_at(pairs, b.at));
    return order != 0 ? order < 0 : a.at < b.at;
  });
}

SortBuffer::SortBuffer(std::size_t bytes, std::uint32_t partitions)
    : memory_(std::min(bytes, kMostBytes)), partitions_(partitions) {}

std::span<const SortEntry> SortBuffer::sorted() {
  const std::span<SortEntry> entries(entries_end() - count_, count_);
  EntrySorter(memory_.data(), partitions_).sort(entries);
  return entries;
}

}  // namespace lp::dataflow
