#include "lp/rpc/shm/doorbell.h"

#include <bit>

namespace lp::rpc {

bool Doorbell::take(std::uint32_t& lane) noexcept {
  const std::uint32_t next = (lane + 1) % kLanes;
  const std::uint32_t first = next / 64;
  const std::uint64_t ahead = ~std::uint64_t{0} << next % 64;
  const std::uint64_t marked = std::rotr(any.load(), static_cast<int>(first));  // the word `first` is bit 0
  if ((marked & 1) != 0 && take_of(first, ahead, lane)) return true;
  for (std::uint64_t left = marked & ~std::uint64_t{1}; left != 0; left &= left - 1) {
    const auto word = (first + static_cast<std::uint32_t>(std::countr_zero(left))) % (kLanes / 64);
    if (take_of(word, ~std::uint64_t{0}, lane)) return true;
  }
  return (marked & 1) != 0 && take_of(first, ~ahead, lane);
}

// Takes the mark of one of the lanes `among` those of a word.
bool Doorbell::take_of(std::uint32_t word, std::uint64_t among, std::uint32_t& lane) noexcept {
  const std::uint64_t bits = words[word].load();
  const std::uint64_t bit = bits & among & -(bits & among);
  if (bits != 0 && bit == 0) return false;
  if (bits == 0 || (words[word].fetch_and(~bit) & ~bit) == 0) {
    any.fetch_and(~(std::uint64_t{1} << word));
    if (words[word].load() != 0) any.fetch_or(std::uint64_t{1} << word);  // marked in between
  }
  if (bit != 0) lane = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bit));
  return bit != 0;
}

}  // namespace lp::rpc
