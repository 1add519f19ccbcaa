#pragma once
// The calls of a connection by number. The one who calls gives the numbers: their lower bits say where a call stands,
// at both ends, so that finding it costs no search and keeping it no allocation. One thread at a time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace lp::internal {

template <class T>  // a pointer of some kind
class CallSlots {
 public:
  static constexpr std::size_t kLimit = 1 << 16;  // calls at a time

  std::size_t size() const { return size_; }

  // For who calls: adds `call`, of which there must be fewer than kLimit, and gives it a number larger than all before.
  std::uint64_t add(T call) {
    if (free_.empty()) free_.push_back(slots_.size());
    const std::size_t place = free_.back();
    free_.pop_back();
    const std::uint64_t number = ++count_ * kLimit + place;
    put(number, std::move(call));
    return number;
  }
  // For who is called: adds a call under its number; what stood there, if anything, comes back.
  T put(std::uint64_t number, T call) {
    const std::size_t place = number % kLimit;
    if (place >= slots_.size()) slots_.resize(place + 1);
    Slot& slot = slots_[place];
    if (!slot.call) ++size_;
    slot.number = number;
    return std::exchange(slot.call, std::move(call));
  }
  // Null when it is not here.
  T* find(std::uint64_t number) {
    const std::size_t place = number % kLimit;
    if (place >= slots_.size() || slots_[place].number != number || !slots_[place].call) return nullptr;
    return &slots_[place].call;
  }
  T take(std::uint64_t number) {
    T* const found = find(number);
    return found == nullptr ? T() : take_from(*found, number % kLimit);
  }
  // Takes those out of which take_it(call) is true, the oldest first.
  template <class Predicate>
  std::vector<T> take_if(Predicate take_it) {
    std::vector<std::pair<std::uint64_t, std::size_t>> places;  // by number
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].call && take_it(slots_[i].call)) places.emplace_back(slots_[i].number, i);
    }
    std::sort(places.begin(), places.end());
    std::vector<T> taken;
    taken.reserve(places.size());
    for (const auto& [number, place] : places) taken.push_back(take_from(slots_[place].call, place));
    return taken;
  }

 private:
  struct Slot {
    std::uint64_t number = 0;
    T call{};
  };
  T take_from(T& call, std::size_t place) {
    --size_;
    if (count_ > 0) free_.push_back(place);  // we give the numbers
    return std::exchange(call, T());
  }

  std::vector<Slot> slots_;
  std::vector<std::size_t> free_;
  std::size_t size_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace lp::internal
