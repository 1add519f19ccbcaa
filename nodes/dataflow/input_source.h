#pragma once
// The bytes of an input file: on this host, or read by a node of another one. Owned by its reader; one thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace lp::dataflow {

// Shows whether a file was replaced or written meanwhile, as far as both values are of the same host.
struct FileIdentity {
  std::uint64_t host = 0;  // with its file system; 0: unknown
  std::uint64_t inode = 0;
  std::int64_t written = 0;  // when, in nanoseconds
};

class InputSource {
 public:
  virtual ~InputSource() = default;
  virtual std::uint64_t size() const = 0;  // when it was opened, or later
  // Reads at most `into.size()` bytes from `offset` on, fewer only at the end of the file. Error::failed that names the
  // file.
  virtual std::size_t read_at(std::uint64_t offset, std::span<char> into) = 0;
  virtual bool is_remote() const { return false; }
  virtual FileIdentity identity() const { return {}; }
};

// Opens an input by its path. Error::failed with the reason when it cannot.
using OpenInput = std::function<std::unique_ptr<InputSource>(const std::string& path)>;

// A file that this node can open.
std::unique_ptr<InputSource> open_here(const std::string& path);

}  // namespace lp::dataflow
