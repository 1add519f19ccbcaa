#pragma once
// A file that is read through one block, at any place. Owned by its user; one thread at a time. Errors name the file.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lp/base/descriptor.h"
#include "nodes/dataflow/file_error.h"
#include "nodes/dataflow/input_source.h"

namespace lp::dataflow {

// A file may not be opened by this user.
class ClosedFileError : public FileError {
 public:
  using FileError::FileError;
};

// Opens a file for reading. FileError with the system's reason.
Descriptor open_to_read(const std::string& path);

// Reads at most `into.size()` bytes from `offset` on, fewer only at the end of the file.
std::size_t read_at(const Descriptor& file, const std::string& path, std::uint64_t offset, std::span<char> into);

class FileWindow {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 18;

  explicit FileWindow(std::string path, const OpenInput& open = open_here);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // when it was opened
  FileIdentity identity() const { return file_->identity(); }
  // Bytes from `offset` on, at least `least` of them unless the file ends; empty at its end. They are valid until the
  // next call. `least` is at most kBlockBytes.
  std::string_view at(std::uint64_t offset, std::size_t least = 1);

 private:
  const std::string path_;
  const std::unique_ptr<InputSource> file_;
  const std::uint64_t size_;
  std::vector<char> block_{};
  std::uint64_t begin_ = 0;  // the offset of the block
  std::size_t filled_ = 0;
};

}  // namespace lp::dataflow
