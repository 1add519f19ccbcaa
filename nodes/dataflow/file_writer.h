#pragma once
// A new file, written through a block. It is removed unless it is closed, so a failed attempt leaves nothing. Owned by
// its user; one thread. Error::failed names the file and the system's reason.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "lp/base/descriptor.h"

namespace lp::dataflow {

class FileWriter {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 18;

  explicit FileWriter(std::string path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return written_ + used_; }
  void write(std::string_view bytes) {
    if (bytes.size() <= block_.size() - used_) [[likely]] {
      if (!bytes.empty()) std::memcpy(block_.data() + used_, bytes.data(), bytes.size());
      used_ += bytes.size();
    } else {
      write_through(bytes);
    }
  }
  bool failed() const { return failed_; }  // the system has refused to write
  // Takes back what was written behind this size.
  void cut_back(std::uint64_t size);
  // Writes the rest and keeps the file. With `durable` it is on the disk, and survives a crash of the machine.
  void close(bool durable);

 private:
  void write_through(std::string_view bytes);
  void flush();
  void put(std::string_view bytes);

  const std::string path_;
  Descriptor file_;
  std::vector<char> block_;
  std::size_t used_ = 0;
  std::uint64_t written_ = 0;
  bool failed_ = false;
};

}  // namespace lp::dataflow
