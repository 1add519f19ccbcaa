#include "lp/base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include "lp/base/error.h"

namespace lp {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, const std::string& why) {
  throw Error(ErrorKind::failed, std::string("cannot ") + what + " " + path.string() + ": " + why);
}

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  fail(what, path, std::error_code(error, std::generic_category()).message());
}

// The status of the file that a write to `path` replaces. Nothing when there is none.
std::optional<struct stat> status_of(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  return found;
}

// Whether a file is written as it stands, because it cannot be replaced: a device, a pipe.
bool is_in_place(const struct stat& status) { return !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode); }

// The file that a write to `path` replaces: not the links on the way there.
std::filesystem::path behind_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, error); ++i) {
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  }
  return path;
}

// Whether `path` still names the open file `status`.
bool is_named(const std::filesystem::path& path, const struct stat& status) {
  const std::optional<struct stat> named = status_of(path);
  return named && named->st_ino == status.st_ino && named->st_dev == status.st_dev;
}

// Whether it is a file of this user without another name, which a dead process may have left.
bool may_be_leftover(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_nlink == 1 && status.st_uid == ::geteuid();
}

// Opens `path`, a new file or the leftover of a dead process, for writing, and locks it: the system unlocks it when its
// writer dies. Returns -1 if it is in use: errno is then EEXIST. In a file system without locks, each file is in use.
int open_temporary(const std::filesystem::path& path) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const bool is_new = fd >= 0;
  if (!is_new && errno != EEXIST) return -1;
  if (!is_new) fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd >= 0) {
    const bool locked = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (!locked && is_new && errno != EWOULDBLOCK) return fd;
    struct stat status {};
    // Before it was locked, another writer may have taken it over and published it.
    const bool ours = locked && ::fstat(fd, &status) == 0 && is_named(path, status);
    if (ours && (is_new || (may_be_leftover(status) && ::ftruncate(fd, 0) == 0))) return fd;
    ::close(fd);
  }
  errno = EEXIST;
  return -1;
}

// A temporary file for writing, locked by its writer. It becomes `target`, with the mode of the file that was there, or
// disappears.
class Temporary {
 public:
  explicit Temporary(const std::filesystem::path& target) : target_(behind_links(target)) {
    if (!target.has_filename()) fail("write", target, "the path names no file");
    constexpr int kMostWriters = 1000;
    const std::string prefix = std::string(".").append(target_.filename().string()).append(".tmp");
    for (int i = 0; fd_ < 0; ++i) {
      path_ = target_.parent_path() / (prefix + std::to_string(i));
      fd_ = open_temporary(path_);
      if (fd_ < 0 && (errno != EEXIST || i == kMostWriters)) fail("write", target, errno);
    }
    constexpr mode_t kPermissions = 07777;
    if (const auto old = status_of(target_); old) ::fchmod(fd_, old->st_mode & kPermissions);
  }
  ~Temporary() {
    if (!done_) ::unlink(path_.c_str());
    ::close(fd_);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  void write(std::span<const std::byte> bytes) {
    if (!write_all(fd_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()})) fail("write", target_, errno);
  }
  const std::filesystem::path& target() const { return target_; }
  void sync() {
    if (::fsync(fd_) != 0) fail("write", target_, errno);
  }
  void publish() {
    // The last writes may fail when a descriptor is closed. The file stays locked until it has its name.
    const int copy = ::fcntl(fd_, F_DUPFD_CLOEXEC, 0);
    if (copy < 0 || ::close(copy) != 0) fail("write", target_, errno);
    if (std::rename(path_.c_str(), target_.c_str()) != 0) fail("write", target_, errno);
    done_ = true;
  }

 private:
  const std::filesystem::path target_;
  std::filesystem::path path_;
  int fd_ = -1;
  bool done_ = false;
};

void write_in_place(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) fail("write", path, errno);
  int error = 0;
  for (const std::span<const std::byte> part : parts) {
    if (!write_all(fd, {reinterpret_cast<const char*>(part.data()), part.size()})) error = errno;
  }
  ::close(fd);
  if (error != 0) fail("write", path, error);
}

}  // namespace

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  if (const auto old = status_of(path); old && is_in_place(*old)) return write_in_place(path, std::span(&part, 1));
  Temporary temporary(path);
  temporary.write(part);
  temporary.publish();
}

void write_file_durably(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts) {
  if (const auto old = status_of(path); old && is_in_place(*old)) return write_in_place(path, parts);
  Temporary temporary(path);
  for (const std::span<const std::byte> part : parts) temporary.write(part);
  temporary.sync();
  temporary.publish();
  sync_directory(temporary.target().parent_path());
}

void write_file_durably(const std::filesystem::path& path, std::string_view text) {
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  write_file_durably(path, std::span(&part, 1));
}

void check_output_file(std::string_view option, const std::filesystem::path& path) {
  try {
    const std::filesystem::path directory = std::filesystem::absolute(path).parent_path();
    if (!std::filesystem::is_directory(directory)) fail("write", path, "there is no directory " + directory.string());
    const auto old = status_of(path);
    if (old && S_ISDIR(old->st_mode)) fail("write", path, EISDIR);
    if (old && is_in_place(*old)) {
      if (::access(path.c_str(), W_OK) != 0) fail("write", path, errno);
    } else {
      const Temporary temporary(path);
    }
  } catch (const Error& error) {
    throw Error(ErrorKind::failed, std::string(option) + ": " + error.text());
  }
}

namespace {

// The path, or the closest directory above it that exists.
std::filesystem::path closest(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::path there = std::filesystem::absolute(path).lexically_normal();
  while (!std::filesystem::exists(std::filesystem::symlink_status(there, ignored)) && there.has_relative_path()) {
    there = there.parent_path();
  }
  return there;
}

}  // namespace

void check_directory(const std::filesystem::path& path) {
  const std::filesystem::path there = closest(path);
  const auto status = status_of(there);
  if (!status) fail("make", path, there.string() + " is a link to nothing");
  if (!S_ISDIR(status->st_mode)) fail("make", path, there.string() + " is no directory");
  std::string made = (there / ".lp-XXXXXX").string();
  if (::mkdtemp(made.data()) == nullptr) fail("write into", there, errno);
  ::rmdir(made.c_str());
}

void check_output_directory(std::string_view option, const std::filesystem::path& path) {
  if (!closest(path).has_relative_path() && std::filesystem::absolute(path).has_relative_path()) return;
  try {
    check_directory(path);
  } catch (const Error& error) {
    throw Error(ErrorKind::failed, std::string(option) + ": " + error.text());
  }
}

void sync_directory(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory.empty() ? "." : directory;
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) fail("open", path, errno);
  // Some network file systems cannot sync a directory, and need not.
  const int error = ::fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
  ::close(fd);
  if (error != 0) fail("sync", path, error);
}

InputFile::InputFile(std::filesystem::path path)
    : path_(std::move(path)), fd_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (fd_ < 0) fail("read", path_, errno);
  struct stat status {};
  const int error = ::fstat(fd_, &status) == 0 ? 0 : errno;
  if (error != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd_);
    if (error != 0) fail("read", path_, error);
    fail("read", path_, "it is not a regular file");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(fd_); }

Buffer InputFile::read(std::uint64_t offset, std::uint64_t size) const {
  const auto too_short = [&] {
    fail(
        "read", path_,
        "bytes " + std::to_string(offset) + " to " + std::to_string(offset + size) + " are needed, but it ends before");
  };
  if (offset > size_ || size > size_ - offset) too_short();
  Buffer buffer = Buffer::uninitialized(static_cast<std::size_t>(size));
  std::span<std::byte> room = buffer.edit();
  auto at = static_cast<off_t>(offset);
  while (!room.empty()) {
    const ssize_t got = ::pread(fd_, room.data(), room.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path_, errno);
    if (got == 0) too_short();
    room = room.subspan(static_cast<std::size_t>(got));
    at += got;
  }
  return buffer;
}

Buffer read_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const InputFile file(path);
  if (file.size() > max_bytes) {
    fail("read", path,
         "it has " + std::to_string(file.size()) + " bytes, but only " + std::to_string(max_bytes) + " are allowed");
  }
  return file.read(0, file.size());
}

std::string read_text(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const Buffer bytes = read_file(path, max_bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<std::string> read_text_if_any(const std::filesystem::path& path, std::uint64_t max_bytes) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  try {
    return read_text(path, max_bytes);
  } catch (const Error&) {
    if (std::filesystem::exists(path, error)) throw;
    return std::nullopt;  // it was removed meanwhile
  }
}

}  // namespace lp
