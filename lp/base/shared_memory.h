#pragma once
// Memory without a name that processes hand to one another as a descriptor. It is gone when the last of them is,
// however it ended. Owned by the object that made or opened it; a resource that moves. Its users decide about its
// content.

#include <cstddef>
#include <string>

#include "lp/base/descriptor.h"

namespace lp {

class SharedMemory {
 public:
  SharedMemory() = default;
  // Makes `size` zero bytes. They take no memory before they are used, and their number can neither shrink nor grow.
  // Throws Error(failed).
  static SharedMemory create(const std::string& name, std::size_t size);
  // Opens memory that another process made, of at most `largest` bytes. Throws Error(failed) when it could still be cut
  // off (reading would end this process) or is not memory at all.
  enum class Access { read, write };
  static SharedMemory open(const Descriptor& descriptor, Access access, std::size_t largest);
  // Opens memory by its path(), in a process of the same user and host. Throws Error(failed) also when there is
  // nothing.
  static SharedMemory open(const std::string& path, Access access, std::size_t largest);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  // The descriptor to hand on. Memory that was opened has none.
  const Descriptor& descriptor() const noexcept { return descriptor_; }
  // The path by which other processes open it, for as long as its maker lives.
  std::string path() const;
  // Gives pages back to the system: they read as zero again. `begin` and `size` are multiples of 4096.
  void forget(std::size_t begin, std::size_t size) noexcept;
  // Makes the memory private in the child of a fork: from now on neither side sees the other's writes. Only for memory
  // that was made here.
  void become_private() noexcept;

 private:
  static SharedMemory map(int descriptor, Access access, std::size_t size);

  Descriptor descriptor_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lp
