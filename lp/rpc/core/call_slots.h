#pragma once
// The calls of a connection by number. The caller gives the numbers: their lower bits are a call's place, at both ends,
// so that finding it costs no search and keeping it no allocation. One thread at a time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace lp::rpc {

template <class T>  // a pointer of some kind
class CallSlots {
 public:
  static constexpr std::size_t kLimit = 1 << 16;  // largest number of calls at a time

  std::size_t size() const { return size_; }

  // For the caller: adds `call`, of which there must be fewer than kLimit, and gives it a number larger than all
  // before.
  std::uint64_t add(T call) {
    const std::size_t place = first_free_ != kNone ? pop_free() : slots_.size();
    const std::uint64_t number = ++count_ * kLimit + place;
    put(number, std::move(call));
    return number;
  }
  // For the callee: adds a call under its number, and returns the call that was in that place, if any.
  T put(std::uint64_t number, T call) {
    const std::size_t place = number % kLimit;
    if (place >= slots_.size()) slots_.resize(place + 1);
    Slot& slot = slots_[place];
    if (!slot.call) ++size_;
    slot.number = number;
    return std::exchange(slot.call, std::move(call));
  }
  // Returns null when the call is not here.
  T* find(std::uint64_t number) {
    const std::size_t place = number % kLimit;
    if (place >= slots_.size() || slots_[place].number != number || !slots_[place].call) return nullptr;
    return &slots_[place].call;
  }
  T take(std::uint64_t number) {
    T* const found = find(number);
    return found == nullptr ? T() : take_from(*found, number % kLimit);
  }
  // Returns the call in the place `distance` behind that of `number`; null when there is none. Places are used again in
  // the order in which they became free. So while replies come in the order of the calls, `distance` replies come
  // before the reply of that call.
  T* ahead(std::uint64_t number, std::size_t distance) {
    const std::size_t place = number % kLimit + distance;
    return place < slots_.size() && slots_[place].call ? &slots_[place].call : nullptr;
  }
  // Calls visit(call) for the first calls.
  template <class Visit>
  void each(std::size_t most, Visit visit) const {
    for (const Slot& slot : slots_) {
      if (!slot.call) continue;
      if (most-- == 0) return;
      visit(slot.call);
    }
  }
  // Takes out the calls for which take_it(call) is true, the oldest first.
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
    std::uint64_t number = 0;  // in a free place at the caller: the next free place
    T call{};
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::size_t pop_free() {
    const std::size_t place = std::exchange(first_free_, slots_[first_free_].number);
    if (first_free_ == kNone) last_free_ = kNone;
    return place;
  }
  void push_free(std::size_t place) {
    slots_[place].number = kNone;
    (last_free_ == kNone ? first_free_ : slots_[last_free_].number) = place;
    last_free_ = place;
  }
  T take_from(T& call, std::size_t place) {
    --size_;
    if (count_ > 0) push_free(place);  // this side gives the numbers
    return std::exchange(call, T());
  }

  std::vector<Slot> slots_;
  std::size_t first_free_ = kNone, last_free_ = kNone;
  std::size_t size_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace lp::rpc
