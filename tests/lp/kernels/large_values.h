#pragma once
// More values than 2^31, for the tests of indices: the address space has them, and only the pages that a test touches
// have memory. The values are 0 at first.

#include <sys/mman.h>

#include <cstddef>
#include <span>
#include <system_error>

namespace lp::test {

template <class T>
class LargeValues {
 public:
  explicit LargeValues(std::size_t size) : size_(size) {
    void* const at = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    data_ = static_cast<T*>(at);
  }
  LargeValues(const LargeValues&) = delete;
  LargeValues& operator=(const LargeValues&) = delete;
  ~LargeValues() { munmap(data_, bytes()); }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  // The last values.
  std::span<T> last(std::size_t count) const { return {data_ + size_ - count, count}; }

 private:
  std::size_t bytes() const { return size_ * sizeof(T); }

  T* data_ = nullptr;
  std::size_t size_;
};

}  // namespace lp::test
