#include "launchers/record/node_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "launchers/record/run_directory.h"
#include "lp/base/file.h"

namespace lp::launch {
namespace {

std::filesystem::path with_word(const std::filesystem::path& path, const char* word) {
  std::filesystem::path result = path;
  return result.replace_extension(std::string(".") + word + ".log");
}

}  // namespace

NodeLog::NodeLog(std::filesystem::path path, std::uint64_t limit)
    : path_(std::move(path)), root_(existing_ancestor(path_)), part_(std::max<std::uint64_t>(limit / 3, 4096)) {}

NodeLog::NodeLog(NodeLog&& other) noexcept
    : path_(std::move(other.path_)),
      root_(std::move(other.root_)),
      part_(other.part_),
      size_(other.size_),
      parts_(other.parts_),
      times_(other.times_),
      fd_(std::exchange(other.fd_, -1)),
      broken_(other.broken_) {}

NodeLog::~NodeLog() {
  if (fd_ >= 0) close(fd_);
}

bool NodeLog::open() {
  make_directories_below(root_, std::filesystem::absolute(path_).parent_path());
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  // continues the file of an earlier start
  if (fd_ >= 0) size_ = static_cast<std::uint64_t>(std::max<off_t>(lseek(fd_, 0, SEEK_END), 0));
  return fd_ >= 0;
}

void NodeLog::turn_over() {
  close(fd_);
  fd_ = -1;
  size_ = 0;
  std::error_code ignored;
  const std::filesystem::path full = with_word(path_, parts_ == 0 ? "first" : "previous");
  std::filesystem::rename(path_, full, ignored);
  times_.turn_over(path_, full);
  ++parts_;
}

bool NodeLog::write(std::string_view bytes, std::string& error) {
  if (broken_) return false;
  while (!bytes.empty()) {
    bool done = fd_ >= 0 || open();
    if (done && size_ >= part_) {
      turn_over();
      const std::string dropped =
          parts_ > 2 ? std::to_string((parts_ - 2) * part_) + " bytes before this line were dropped; " : std::string();
      const std::string note =
          "[lp: " + dropped + "the log begins in " + with_word(path_, "first").filename().string() + "]\n";
      done = open() && write_all(fd_, note);
      if (done) size_ += note.size();
    }
    const std::string_view part = bytes.substr(0, part_ - size_);
    if (done) {
      times_.note(path_, size_, part_);
      done = write_all(fd_, part);
    }
    if (!done) {
      error = path_.string() + ": " + std::strerror(errno);
      broken_ = true;
      return false;
    }
    size_ += part.size();
    bytes.remove_prefix(part.size());
  }
  return true;
}

}  // namespace lp::launch
