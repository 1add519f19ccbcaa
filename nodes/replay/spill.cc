#include "nodes/replay/spill.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "lp/base/descriptor.h"
#include "lp/base/error.h"

namespace lp::replay {
namespace {

constexpr std::size_t kPage = 4096;

[[noreturn]] void fail(const std::filesystem::path& directory, int error) {
  throw Error(ErrorKind::overloaded, "the replay server cannot spill to " + directory.string() + ": " +
                                         std::error_code(error, std::generic_category()).message() +
                                         "; make room on its disk, or lower the limits of the tables. No item is lost");
}

std::size_t in_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

Descriptor nameless_file(const std::filesystem::path& directory) {
  std::string name = (directory / "lp-replay-XXXXXX").string();
  Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) fail(directory, errno);
  ::unlink(name.c_str());
  return file;
}

}  // namespace

// A file, as a whole in memory's address space.
class Spill::Segment {
 public:
  Segment(const std::filesystem::path& directory, std::size_t size)
      : directory_(directory), file_(nameless_file(directory)), size_(size) {
    if (const int error = ::posix_fallocate(file_.number(), 0, static_cast<off_t>(size)); error != 0) {
      fail(directory, error);
    }
    memory_ = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file_.number(), 0);
    if (memory_ == MAP_FAILED) fail(directory, errno);
  }
  ~Segment() { ::munmap(memory_, size_); }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  std::size_t room() const { return size_ - used_; }
  const std::byte* append(std::span<const std::byte> bytes) {
    const std::size_t begin = used_;
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t written =
          ::pwrite(file_.number(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(begin + done));
      if (written >= 0) {
        done += static_cast<std::size_t>(written);
      } else if (errno != EINTR) {
        fail(directory_, errno);
      }
    }
    used_ += in_pages(bytes.size());
    return static_cast<const std::byte*>(memory_) + begin;
  }
  // Gives the room of these bytes back to the disk.
  void free(const std::byte* bytes, std::size_t size) noexcept {
    const auto begin = static_cast<off_t>(bytes - static_cast<const std::byte*>(memory_));
    static_cast<void>(::fallocate(file_.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin,
                                  static_cast<off_t>(in_pages(size))));
  }

 private:
  const std::filesystem::path directory_;
  const Descriptor file_;
  const std::size_t size_;
  void* memory_ = MAP_FAILED;
  std::size_t used_ = 0;
};

Spill::Spill(std::filesystem::path directory) : directory_(std::move(directory)) {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) {
    throw Error(ErrorKind::failed,
                "the spill directory " + directory_.string() + " cannot be made: " + error.message());
  }
}

Spill::~Spill() = default;

Buffer Spill::put(std::span<const std::byte> bytes) {
  const std::size_t least = in_pages(bytes.size());
  for (std::size_t size = std::max(kSegmentBytes, least); segment_ == nullptr || segment_->room() < bytes.size();
       size = std::max(size / 2, least)) {
    try {
      segment_ = std::make_shared<Segment>(directory_, size);
    } catch (const Error&) {
      if (size == least) throw;  // the disk has not even room for these bytes
    }
  }
  const std::byte* const at = segment_->append(bytes);
  return Buffer::wrap(at, bytes.size(), [segment = segment_, at, size = bytes.size()] { segment->free(at, size); });
}

}  // namespace lp::replay
