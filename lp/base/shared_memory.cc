#include "lp/base/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "lp/base/error.h"

namespace lp {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

[[noreturn]] void refused(const char* what) {
  throw Error(ErrorKind::failed, std::string("shared memory: ") + what + ": " + std::strerror(errno));
}

}  // namespace

SharedMemory SharedMemory::create(const std::string& name, std::size_t size) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < size) {
    errno = EFBIG;  // an attempt would raise a signal
    refused("`ulimit -f`");
  }
  Descriptor descriptor(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor) refused("memfd_create");
  if (ftruncate(descriptor.number(), static_cast<off_t>(size)) != 0) refused("ftruncate");
  if (fcntl(descriptor.number(), F_ADD_SEALS, kSeals) != 0) refused("F_ADD_SEALS");
  SharedMemory memory = map(descriptor.number(), Access::write, size);
  memory.descriptor_ = std::move(descriptor);
  return memory;
}

SharedMemory SharedMemory::open(const Descriptor& descriptor, Access access, std::size_t largest) {
  const int seals = fcntl(descriptor.number(), F_GET_SEALS);
  if (seals < 0) refused("F_GET_SEALS");
  struct stat status {};
  if (fstat(descriptor.number(), &status) != 0) refused("fstat");
  const auto size = static_cast<std::size_t>(status.st_size);
  if ((seals & F_SEAL_SHRINK) == 0 || size == 0 || size > largest) {
    throw Error(ErrorKind::failed, "shared memory: the descriptor is not shared memory of lp");
  }
  return map(descriptor.number(), access, size);
}

SharedMemory SharedMemory::open(const std::string& path, Access access, std::size_t largest) {
  const Descriptor descriptor(::open(path.c_str(), (access == Access::write ? O_RDWR : O_RDONLY) | O_CLOEXEC));
  if (!descriptor) refused(path.c_str());
  return open(descriptor, access, largest);
}

std::string SharedMemory::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(descriptor_.number());
}

SharedMemory SharedMemory::map(int descriptor, Access access, std::size_t size) {
  const int protection = access == Access::write ? PROT_READ | PROT_WRITE : PROT_READ;
  SharedMemory memory;
  if (size < kHugePage) {
    void* const at = mmap(nullptr, size, protection, MAP_SHARED, descriptor, 0);
    if (at == MAP_FAILED) refused("mmap");
    memory.data_ = static_cast<std::byte*>(at);
  } else {
    // The mapping begins at a multiple of the size of huge pages, so that the kernel may use them.
    void* const room = mmap(nullptr, size + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) refused("mmap");
    auto* const begin = static_cast<std::byte*>(room);
    const std::size_t skip = -reinterpret_cast<std::uintptr_t>(room) % kHugePage;
    if (skip > 0) munmap(begin, skip);
    munmap(begin + skip + size, kHugePage - skip);
    void* const at = mmap(begin + skip, size, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, descriptor, 0);
    if (at == MAP_FAILED) {
      const int reason = errno;
      munmap(begin + skip, size);
      errno = reason;
      refused("mmap");
    }
    memory.data_ = begin + skip;
    madvise(at, size, MADV_HUGEPAGE);
  }
  memory.size_ = size;
  madvise(memory.data_, size, MADV_DONTDUMP);
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, size_);
}

void SharedMemory::forget(std::size_t begin, std::size_t size) noexcept {
  fallocate(descriptor_.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
            static_cast<off_t>(size));
}

void SharedMemory::become_private() noexcept {
  // This replaces a mapping of the same size, so it needs nothing that could be missing.
  static_cast<void>(
      mmap(data_, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, descriptor_.number(), 0));
  descriptor_ = Descriptor();  // the child gives no pages back and hands nothing on
}

}  // namespace lp
