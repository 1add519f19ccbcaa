#include "lp/base/shared_heap.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <string>

#include "lp/base/secret.h"

namespace lp {
namespace {

constexpr std::size_t kPage = 4096;
// Free memory keeps its pages up to this size, or up to the size of the memory in use: a fresh page costs more than the
// copy into it.
constexpr std::size_t kMostKept = std::size_t{256} << 20;
constexpr std::size_t kKeptSparing = std::size_t{16} << 20;

std::atomic<SharedHeap*> g_heap = nullptr;

std::size_t round_up(std::size_t size) { return (size + kPage - 1) / kPage * kPage; }

}  // namespace

void Ranges::add(Range range) {
  if (range.begin == range.end) return;
  count_ += range.end - range.begin;
  auto next = ends_.lower_bound(range.begin);
  if (next != ends_.begin()) {
    if (const auto before = std::prev(next); before->second == range.begin) {
      range.begin = before->first;
      ends_.erase(before);
    }
  }
  if (next != ends_.end() && next->first == range.end) {
    range.end = next->second;
    next = ends_.erase(next);
  }
  ends_.emplace_hint(next, range.begin, range.end);
}

std::size_t Ranges::remove(Range range) {
  const std::size_t before = count_;
  auto at = ends_.upper_bound(range.begin);
  if (at != ends_.begin()) --at;
  while (at != ends_.end() && at->first < range.end) {
    const Range found{.begin = at->first, .end = at->second};
    if (found.end <= range.begin) {
      ++at;
      continue;
    }
    at = ends_.erase(at);
    if (found.begin < range.begin) ends_.emplace_hint(at, found.begin, range.begin);
    if (found.end > range.end) at = ends_.emplace_hint(at, range.end, found.end);
    count_ -= std::min(found.end, range.end) - std::max(found.begin, range.begin);
  }
  return before - count_;
}

Ranges::Range Ranges::take_last() {
  const auto last = std::prev(ends_.end());
  const Range range{.begin = last->first, .end = last->second};
  ends_.erase(last);
  count_ -= range.end - range.begin;
  return range;
}

std::size_t machine_memory() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

SharedHeap* SharedHeap::current() noexcept { return g_heap.load(std::memory_order_acquire); }

SharedHeap& SharedHeap::use(std::size_t size) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (current() == nullptr) {
    g_heap = new SharedHeap(round_up(size == 0 ? machine_memory() : size));
    pthread_atfork(
        [] {
          current()->lending_.lock();
          current()->mutex_.lock();
        },
        [] {
          current()->mutex_.unlock();
          current()->lending_.unlock();
        },
        [] {
          current()->memory_.become_private();  // otherwise parent and child would give out the same memory
          current()->lenders_.clear();          // memory that comes back belongs to the parent
          current()->mutex_.unlock();
          current()->lending_.unlock();
        });
  }
  return *current();
}

SharedHeap::SharedHeap(std::size_t size) : memory_(SharedMemory::create(kName, kFront + size)) {
  static_assert(sizeof(Front) <= kFront);
  Front* const front = ::new (memory_.data()) Front;
  const std::string number = secret_bytes(sizeof front->owner);
  std::memcpy(&front->owner, number.data(), number.size());
  add_range(kFront, size);
}

void SharedHeap::announce(std::uint64_t place) noexcept {
  for (std::atomic<std::uint64_t>& one : reinterpret_cast<Front*>(memory_.data())->places) {
    std::uint64_t found = 0;
    if (one.compare_exchange_strong(found, place) || found == place) return;
  }
}

void SharedHeap::withdraw(std::uint64_t place) noexcept {
  for (std::atomic<std::uint64_t>& one : reinterpret_cast<Front*>(memory_.data())->places) {
    std::uint64_t found = place;
    one.compare_exchange_strong(found, Front::kWithdrawn);
  }
}

bool SharedHeap::announces(const SharedMemory& heap, std::uint64_t place) noexcept {
  for (const std::atomic<std::uint64_t>& one : reinterpret_cast<const Front*>(heap.data())->places) {
    const std::uint64_t found = one.load(std::memory_order_acquire);
    if (found == place || found == 0) return found == place;
  }
  return false;
}

std::uint64_t SharedHeap::owner_of(const SharedMemory& heap) noexcept {
  return reinterpret_cast<const Front*>(heap.data())->owner;
}

void SharedHeap::watch_neighbours(Function<void(std::uint64_t owner)> gone) {
  const std::lock_guard lock(watching_);
  watchers_.push_back(std::move(gone));
}

void SharedHeap::neighbour_is_gone(const SharedMemory& heap) noexcept {
  const std::lock_guard lock(watching_);
  for (auto& watcher : watchers_) watcher(owner_of(heap));
}

void SharedHeap::add(Lender& lender) {
  const std::lock_guard lock(lending_);
  lenders_.push_back(&lender);
}

void SharedHeap::remove(Lender& lender) {
  const std::lock_guard lock(lending_);
  std::erase(lenders_, &lender);
}

void SharedHeap::take_back() noexcept {
  std::vector<Buffer> returned;  // dropped when nothing is locked any more
  const std::lock_guard lock(lending_);
  for (Lender* const lender : lenders_) lender->take_back(returned);
}

std::byte* SharedHeap::allocate(std::size_t size) noexcept {
  size = round_up(size);
  const std::lock_guard lock(mutex_);
  const auto fit = by_size_.lower_bound({size, 0});
  if (fit == by_size_.end()) return nullptr;
  const auto [whole, begin] = *fit;
  remove_range(free_.find(begin));
  if (whole > size) add_range(begin + size, whole - size);
  warm_.remove({.begin = begin, .end = begin + size});
  used_ += size;
  return memory_.data() + begin;
}

void SharedHeap::free(std::byte* memory, std::size_t size) noexcept {
  size = round_up(size);
  std::size_t begin = offset_of(memory);
  std::unique_lock lock(mutex_);
  used_ -= size;
  const std::size_t most = sparing_ > 0 ? kKeptSparing : std::max(kMostKept, used_);
  const std::size_t kept = std::min(size, most - std::min(most, warm_.count()));
  warm_.add({.begin = begin, .end = begin + kept});
  if (kept < size) {  // which takes long
    lock.unlock();
    memory_.forget(begin + kept, size - kept);
    lock.lock();
  }
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && begin + size == next->first) {
    size += next->second;
    remove_range(next);
  }
  if (auto before = free_.lower_bound(begin); before != free_.begin()) {
    --before;
    if (before->first + before->second == begin) {
      begin = before->first;
      size += before->second;
      remove_range(before);
    }
  }
  add_range(begin, size);
  while (warm_.count() > 2 * most) forget_last();  // much less is in use than before
}

void SharedHeap::begin_sparing() noexcept {
  ++sparing_;
  const std::lock_guard lock(mutex_);
  while (warm_.count() > kKeptSparing) forget_last();
}

void SharedHeap::forget_last() noexcept {
  const Ranges::Range range = warm_.take_last();
  memory_.forget(range.begin, range.end - range.begin);
}

std::size_t SharedHeap::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

void SharedHeap::add_range(std::size_t begin, std::size_t size) {
  free_.emplace(begin, size);
  by_size_.emplace(size, begin);
}

void SharedHeap::remove_range(std::map<std::size_t, std::size_t>::iterator range) {
  by_size_.erase({range->second, range->first});
  free_.erase(range);
}

}  // namespace lp
