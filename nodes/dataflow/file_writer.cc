#include "nodes/dataflow/file_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "lp/base/file.h"
#include "nodes/dataflow/file_error.h"

namespace lp::dataflow {
namespace {

[[noreturn]] void fail_to_write(const std::string& path, int error) {
  throw FileError(path, "cannot be written", error);
}

}  // namespace

FileWriter::FileWriter(std::string path)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)),
      block_(kBlockBytes) {
  if (!file_) fail_to_write(path_, errno);
}

FileWriter::~FileWriter() {
  if (file_) ::unlink(path_.c_str());
}

void FileWriter::put(std::string_view bytes) {
  if (!write_all(file_.number(), bytes)) {
    failed_ = true;
    fail_to_write(path_, errno);
  }
  written_ += bytes.size();
}

void FileWriter::flush() { put({block_.data(), std::exchange(used_, 0)}); }

void FileWriter::write_through(std::string_view bytes) {
  flush();
  if (bytes.size() >= block_.size()) {
    put(bytes);
  } else {
    write(bytes);
  }
}

void FileWriter::cut_back(std::uint64_t size) {
  if (size < written_) {
    const auto end = static_cast<off_t>(size);
    if (::ftruncate(file_.number(), end) != 0 || ::lseek(file_.number(), end, SEEK_SET) != end) {
      fail_to_write(path_, errno);
    }
    written_ = size;
  }
  used_ = static_cast<std::size_t>(size - written_);
}

void FileWriter::close(bool durable) {
  flush();
  if (durable && ::fsync(file_.number()) != 0) fail_to_write(path_, errno);
  if (::close(file_.number()) != 0) {
    const int error = errno;
    file_.release();
    ::unlink(path_.c_str());
    fail_to_write(path_, error);
  }
  file_.release();
}

}  // namespace lp::dataflow
