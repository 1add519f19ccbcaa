#pragma once
// Memory without a name that processes hand to one another as a descriptor: it is gone when the last of them is,
// however it ended. Owned by who made or opened it; a resource that moves. What lies in it is its users' affair.

#include <cstddef>
#include <string>

#include "lp/base/descriptor.h"

namespace lp {

class SharedMemory {
 public:
  SharedMemory() = default;
  // `size` zero bytes, which take no memory before they are used and can be made neither fewer nor more. Throws
  // Error(failed).
  static SharedMemory create(const std::string& name, std::size_t size);
  // What another process made, of at most `largest` bytes. Throws Error(failed) when it could still be cut off (reading
  // would end this process) or is not memory at all.
  enum class Access { read, write };
  static SharedMemory open(const Descriptor& descriptor, Access access, std::size_t largest);
  // The same by its path(), in a process of the same user and host. Throws Error(failed) also when there is nothing.
  static SharedMemory open(const std::string& path, Access access, std::size_t largest);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  // To hand on; none for memory that was opened.
  const Descriptor& descriptor() const noexcept { return descriptor_; }
  // Where other processes open it, for as long as the one that made it lives.
  std::string path() const;
  // Gives pages back to the system: they read as zero again. `begin` and `size` are multiples of 4096.
  void forget(std::size_t begin, std::size_t size) noexcept;
  // In the child of a fork: what either side writes from now on, the other one does not see. For memory that was made.
  void become_private() noexcept;

 private:
  static SharedMemory map(int descriptor, Access access, std::size_t size);

  Descriptor descriptor_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lp
