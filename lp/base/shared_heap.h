#pragma once
// The place of big Buffers in a process that has neighbours. Other processes of the host can map this memory, so a
// value is sent as its location. Like malloc's, the heap belongs to the process and lasts until its end. Its books are
// private, so that a process that is killed leaves nothing to repair. In the child of a fork it is a private copy.
// Thread-safe.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "lp/base/array.h"
#include "lp/base/function.h"
#include "lp/base/shared_memory.h"

namespace lp {

// Returns the bytes of memory that this machine has.
std::size_t machine_memory() noexcept;

// A set of positions, as ranges that neither overlap nor touch. A value, for one thread at a time.
class Ranges {
 public:
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  // Adds the positions from begin to before end, none of which is in the set.
  void add(Range range);
  // Returns how many of the positions were in the set.
  std::size_t remove(Range range);
  // The range with the highest positions, which leaves the set. It must not be empty.
  Range take_last();
  std::size_t count() const { return count_; }  // positions
  bool empty() const { return ends_.empty(); }

 private:
  std::map<std::size_t, std::size_t> ends_;  // by beginning
  std::size_t count_ = 0;
};

class SharedHeap {
 public:
  static constexpr const char* kName = "lp-heap";                 // name that /proc shows
  static constexpr std::size_t kSmallest = std::size_t{8} << 10;  // smaller buffers are copied rather than shared
  static constexpr std::size_t kFront = 4096;                     // the first bytes, which tell others of this process

  // Returns the heap of this process, or null until there is one.
  static SharedHeap* current() noexcept;
  // Makes the heap when there is none, of at most `size` bytes (0: as much as the machine has memory). Throws
  // Error(failed) when the system gives no memory.
  static SharedHeap& use(std::size_t size = 0);

  // Lets other processes read buffers of the heap. It learns that they have read them only when it polls.
  class Lender {
   public:
    // Adds the buffers that have come back, if they can be had without waiting. Any thread.
    virtual void take_back(std::vector<Buffer>& returned) noexcept = 0;

   protected:
    ~Lender() = default;
  };
  void add(Lender& lender);
  void remove(Lender& lender);
  // Makes the lenders drop the buffers that have come back.
  void take_back() noexcept;

  // While one lives, the process is ahead of those that it sends to. It needs memory less soon than others may, so its
  // free memory keeps few pages: it gives back those that it has, and then what is freed.
  class Sparing {
   public:
    Sparing() noexcept : heap_(current()) {
      if (heap_ != nullptr) heap_->begin_sparing();
    }
    ~Sparing() {
      if (heap_ != nullptr) --heap_->sparing_;
    }
    Sparing(const Sparing&) = delete;
    Sparing& operator=(const Sparing&) = delete;

   private:
    SharedHeap* const heap_;
  };

  // Tells the processes that map this heap that this process opens memory of that place (Buffer::Elsewhere).
  void announce(std::uint64_t place) noexcept;
  void withdraw(std::uint64_t place) noexcept;
  // Whether the process with this heap has announced it.
  static bool announces(const SharedMemory& heap, std::uint64_t place) noexcept;
  // The number of a process among those of this host.
  std::uint64_t owner() const noexcept { return owner_of(memory_); }
  static std::uint64_t owner_of(const SharedMemory& heap) noexcept;
  // Calls `gone` with the number of each process to which a link ends, in the thread that ends it, as long as this
  // process runs.
  void watch_neighbours(Function<void(std::uint64_t owner)> gone);
  void neighbour_is_gone(const SharedMemory& heap) noexcept;

  // Returns at least `size` bytes, page-aligned, or null when the heap is full.
  std::byte* allocate(std::size_t size) noexcept;
  void free(std::byte* memory, std::size_t size) noexcept;

  bool contains(const void* memory) const noexcept {
    const auto* at = static_cast<const std::byte*>(memory);
    return at >= memory_.data() && at < memory_.data() + memory_.size();
  }
  std::size_t offset_of(const void* memory) const noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(memory) - memory_.data());
  }
  const SharedMemory& memory() const noexcept { return memory_; }
  std::size_t used() const;  // bytes that buffers occupy

 private:
  struct Front {
    std::uint64_t owner = 0;
    static constexpr std::uint64_t kWithdrawn = ~std::uint64_t{0};
    std::array<std::atomic<std::uint64_t>, 64> places{};  // 0: no more
  };

  explicit SharedHeap(std::size_t size);

  mutable std::mutex mutex_;
  SharedMemory memory_;
  std::size_t used_ = 0;
  Ranges warm_;                                            // bytes that are free and may still have pages
  std::map<std::size_t, std::size_t> free_;                // free ranges: beginning and size
  std::set<std::pair<std::size_t, std::size_t>> by_size_;  // the same ranges: size and beginning
  void add_range(std::size_t begin, std::size_t size);
  void remove_range(std::map<std::size_t, std::size_t>::iterator range);
  void begin_sparing() noexcept;
  void forget_last() noexcept;  // gives back the last range of warm_

  std::atomic<int> sparing_ = 0;  // those that live

  std::mutex lending_;
  std::vector<Lender*> lenders_;

  std::mutex watching_;
  std::vector<Function<void(std::uint64_t owner)>> watchers_;
};

}  // namespace lp
