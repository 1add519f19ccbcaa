#pragma once
// Files that are written whole or not at all, and read within bounds. Functions throw Error(failed) with the file's
// name and the system's reason, unless their comment names another way. Any thread may call them. An InputFile belongs
// to one thread at a time.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lp/base/array.h"

namespace lp {

// Makes `path` hold the text. A reader sees the old file or the new one, never half of one; if it throws, the old file
// stays as it was. It writes to a hidden temporary file in the same directory (".NAME.tmp0"). Only a killed process
// leaves that behind, and the next write of the file takes it over. A link stays, and the file behind it is replaced;
// the new file has the mode of the old one. A device or a pipe cannot be replaced: the text is written to it.
void write_file(const std::filesystem::path& path, std::string_view text);

// Does the same with `parts`, one after the other, and survives a crash of the machine: when it returns, they are on
// the disk.
void write_file_durably(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts);
void write_file_durably(const std::filesystem::path& path, std::string_view text);

// For a file that a program will write at its end, before it starts: throws if write_file() could not write it now.
// The message begins with `option`, which names the file ("--plot").
void check_output_file(std::string_view option, const std::filesystem::path& path);

// Throws if the directory, or what is missing on the way to it, could not be made now, or no file in it. It leaves
// none.
void check_directory(const std::filesystem::path& path);

// The same for a directory in which a node will write, before it starts. The message begins with `option`. A path of
// which nothing is on this host may be one of another host, and passes.
void check_output_directory(std::string_view option, const std::filesystem::path& path);

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
std::string read_text(const std::filesystem::path& path, std::uint64_t max_bytes);
// Returns nothing if there is no such file.
std::optional<std::string> read_text_if_any(const std::filesystem::path& path, std::uint64_t max_bytes);

// Writes the whole text to a descriptor. On failure it returns false and leaves the reason in errno.
bool write_all(int fd, std::string_view text);

}  // namespace lp
