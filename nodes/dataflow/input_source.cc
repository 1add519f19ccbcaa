#include "nodes/dataflow/input_source.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "lp/base/descriptor.h"
#include "nodes/dataflow/file_window.h"

namespace lp::dataflow {
namespace {

class LocalInput final : public InputSource {
 public:
  explicit LocalInput(const std::string& path) : path_(path), file_(open_to_read(path)) {
    ::posix_fadvise(file_.number(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  std::uint64_t size() const override {
    struct ::stat status {};
    ::fstat(file_.number(), &status);
    return static_cast<std::uint64_t>(status.st_size);
  }
  std::size_t read_at(std::uint64_t offset, std::span<char> into) override {
    return dataflow::read_at(file_, path_, offset, into);
  }

 private:
  const std::string path_;
  const Descriptor file_;
};

}  // namespace

std::unique_ptr<InputSource> open_here(const std::string& path) { return std::make_unique<LocalInput>(path); }

}  // namespace lp::dataflow
