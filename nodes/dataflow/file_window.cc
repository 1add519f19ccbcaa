#include "nodes/dataflow/file_window.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

namespace lp::dataflow {
namespace {
constexpr const char* kProblem = "cannot be read";
}  // namespace

Descriptor open_to_read(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file) return file;
  const int error = errno;
  if (error == EACCES || error == EPERM) throw ClosedFileError(path, kProblem, error);
  throw FileError(path, kProblem, error);
}

std::size_t read_at(const Descriptor& file, const std::string& path, std::uint64_t offset, std::span<char> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t read =
        ::pread(file.number(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (read == 0) break;
    if (read > 0) {
      done += static_cast<std::size_t>(read);
    } else if (errno != EINTR) {
      throw FileError(path, kProblem, errno);
    }
  }
  return done;
}

FileWindow::FileWindow(std::string path, const OpenInput& open)
    : path_(std::move(path)), file_(open(path_)), size_(file_->size()) {}

std::string_view FileWindow::at(std::uint64_t offset, std::size_t least) {
  if (offset < begin_ || offset + least > begin_ + filled_) {
    block_.resize(kBlockBytes);
    begin_ = offset;
    filled_ = file_->read_at(offset, block_);
  }
  return std::string_view(block_.data(), filled_).substr(offset - begin_);
}

}  // namespace lp::dataflow
