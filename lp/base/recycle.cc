#include "lp/base/recycle.h"

#include <array>
#include <mutex>
#include <new>
#include <utility>

namespace lp {
namespace {

// Sanitizers run without recycling. They then find a use after the end, and do not report memory as shared without
// order after it passed through a library that they cannot see into (libzmq).
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kRecycles = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kRecycles = false;
#else
constexpr bool kRecycles = true;
#endif
#else
constexpr bool kRecycles = true;
#endif

constexpr std::size_t kStep = 64;  // sizes are rounded up to a multiple of this
constexpr std::size_t kClasses = kLargestRecycled / kStep;
constexpr std::size_t kBatch = 32;        // pieces that a thread passes on at a time; it keeps fewer than two batches
constexpr std::size_t kKeptBatches = 64;  // batches kept of a class for all threads; others go back to the heap

struct Piece {
  Piece* next;
};

struct List {
  Piece* first = nullptr;
  std::size_t size = 0;

  void push(void* memory) {
    first = ::new (memory) Piece{first};
    ++size;
  }
  void* pop() {
    Piece* const piece = first;
    first = piece->next;
    __builtin_prefetch(first, 1);  // for the next pop
    --size;
    return piece;
  }
};

void free_all(List list) noexcept {
  while (list.size > 0) ::operator delete(list.pop());
}

// The whole batches that all threads share.
class Depot {
 public:
  bool take(List& batch) {
    const std::lock_guard lock(mutex_);
    if (size_ == 0) return false;
    batch = batches_[--size_];
    return true;
  }
  void give(List batch) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (size_ < kKeptBatches) {
        batches_[size_++] = batch;
        return;
      }
    }
    free_all(batch);
  }

 private:
  std::mutex mutex_;
  std::array<List, kKeptBatches> batches_{};
  std::size_t size_ = 0;
};

// The depots are never destroyed: threads that were left behind may use them until the process ends.
std::array<Depot, kClasses>& depots() {
  static auto* const depots = new std::array<Depot, kClasses>();
  return *depots;
}

struct Cache {
  struct Class {
    List open;
    List full;  // one batch, or nothing
  };
  std::array<Class, kClasses> classes{};
  bool* ended;

  explicit Cache(bool& the_ended) : ended(&the_ended) {}
  ~Cache() {
    *ended = true;
    for (Class& one : classes) {
      free_all(one.open);
      free_all(one.full);
    }
  }
};

// Returns null while the thread ends, after its cache was destroyed.
Cache* cache() {
  thread_local bool ended = false;  // it needs no destruction, so it is there until the thread is gone
  if (ended) return nullptr;
  thread_local Cache the_cache(ended);
  return &the_cache;
}

}  // namespace

void* take_memory(std::size_t size) {
  const std::size_t which = (size + kStep - 1) / kStep;
  if (!kRecycles || which > kClasses || which == 0) return ::operator new(size);
  Cache* const mine = cache();
  if (mine == nullptr) return ::operator new(which* kStep);
  Cache::Class& list = mine->classes[which - 1];
  if (list.open.size == 0) {
    if (list.full.size > 0) {
      std::swap(list.open, list.full);
    } else if (!depots()[which - 1].take(list.open)) {
      return ::operator new(which* kStep);
    }
  }
  return list.open.pop();
}

void give_memory(void* memory, std::size_t size) noexcept {
  const std::size_t which = (size + kStep - 1) / kStep;
  Cache* const mine = !kRecycles || which > kClasses || which == 0 ? nullptr : cache();
  if (mine == nullptr) {
    ::operator delete(memory);
    return;
  }
  Cache::Class& list = mine->classes[which - 1];
  list.open.push(memory);
  if (list.open.size < kBatch) return;
  if (list.full.size > 0) depots()[which - 1].give(list.full);
  list.full = std::exchange(list.open, {});
}

}  // namespace lp
