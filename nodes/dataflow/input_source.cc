#include "nodes/dataflow/input_source.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "lp/base/descriptor.h"
#include "lp/base/error.h"
#include "lp/base/hash.h"
#include "nodes/dataflow/file_window.h"

namespace lp::dataflow {
namespace {

// A copy on another host, or in another container, is another file with the same content.
std::uint64_t host_of(dev_t device) {
  static const std::string boot = [] {
    std::string id;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
    return id;
  }();
  return boot.empty() ? 0 : fnv1a(boot + std::to_string(device)) | 1;
}

class LocalInput final : public InputSource {
 public:
  explicit LocalInput(const std::string& path) : path_(path), file_(open_to_read(path)) {
    ::posix_fadvise(file_.number(), 0, 0, POSIX_FADV_SEQUENTIAL);
    char first = 0;
    if (size() == 0 && read_at(0, {&first, 1}) > 0 && size() == 0) {  // else it has grown meanwhile
      throw Error(ErrorKind::failed,
                  path + " has bytes, but no size, as files of /proc do: copy it, and name the copy");
    }
  }
  std::uint64_t size() const override { return static_cast<std::uint64_t>(status().st_size); }
  FileIdentity identity() const override {
    const struct ::stat is = status();
    return {.host = host_of(is.st_dev),
            .inode = is.st_ino,
            .written = std::int64_t{is.st_mtim.tv_sec} * 1'000'000'000 + is.st_mtim.tv_nsec};
  }
  std::size_t read_at(std::uint64_t offset, std::span<char> into) override {
    return dataflow::read_at(file_, path_, offset, into);
  }

 private:
  struct ::stat status() const {
    struct ::stat out {};
    ::fstat(file_.number(), &out);
    return out;
  }

  const std::string path_;
  const Descriptor file_;
};

}  // namespace

std::unique_ptr<InputSource> open_here(const std::string& path) { return std::make_unique<LocalInput>(path); }

}  // namespace lp::dataflow
