#pragma once
// Files that survive a crash: they are written whole or not at all, and read within bounds. Every function throws
// Error(failed) with the file's name and the system's reason. Functions: any thread. An InputFile belongs to one thread
// at a time.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "lp/base/array.h"

namespace lp {

// Makes `path` hold `parts`, one after the other. When it returns, they are on the disk. Until the last moment, and if
// it throws, the file that was there before stays as it was. It writes to a hidden temporary file in the same directory
// (".NAME.tmp0"), which only a killed process leaves behind.
void write_file_durably(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts);
void write_file_durably(const std::filesystem::path& path, std::string_view text);

// Makes the names in `directory` (files created, renamed, removed) survive a crash of the machine.
void sync_directory(const std::filesystem::path& directory);

// A regular file, open for reading.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // size when it was opened
  // Reads `size` bytes from `offset` on. Throws if the file has fewer, before it allocates memory for them.
  Buffer read(std::uint64_t offset, std::uint64_t size) const;

 private:
  std::filesystem::path path_;
  int fd_;
  std::uint64_t size_ = 0;
};

// Reads a whole file of at most `max_bytes`.
Buffer read_file(const std::filesystem::path& path, std::uint64_t max_bytes);

}  // namespace lp
