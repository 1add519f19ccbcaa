#include "launchers/control/checkpoint_transfer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"
#include "lp/base/error.h"

namespace lp::launch {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;

class File {
 public:
  File(const std::filesystem::path& path, int flags)
      : path_(path), fd_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {  // NOLINT: the system's
    if (fd_ < 0) fail();
  }
  ~File() { close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int fd() const { return fd_; }
  std::uint64_t size() const {
    struct stat info {};
    if (fstat(fd_, &info) != 0) fail();
    return static_cast<std::uint64_t>(info.st_size);
  }
  [[noreturn]] void fail() const { throw Error(ErrorKind::failed, path_.string() + ": " + std::strerror(errno)); }

 private:
  std::filesystem::path path_;
  int fd_;
};

}  // namespace

std::filesystem::path restore_directory(const std::filesystem::path& agents, std::size_t process,
                                        std::uint32_t incarnation) {
  return agents / ("restore-" + std::to_string(process) + "-" + std::to_string(incarnation));
}

Function<std::vector<std::uint8_t>()> pieces_of(const std::filesystem::path& path, const CutPart& part) {
  return [file = std::make_unique<File>(path, O_RDONLY), part, offset = std::uint64_t{0},
          done = false]() mutable -> std::vector<std::uint8_t> {
    if (done) return {};
    control::PieceT piece;
    piece.node = part.node;
    piece.name = part.name;
    piece.step = part.step;
    piece.offset = offset;
    piece.bytes.resize(kPiece);
    const ssize_t got = pread(file->fd(), piece.bytes.data(), kPiece, static_cast<off_t>(offset));
    piece.bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    offset += piece.bytes.size();
    done = got <= 0 || offset >= file->size();
    piece.last = done;
    return pack(part.process, part.incarnation, std::move(piece));
  };
}

void put_piece(const std::filesystem::path& path, const control::Piece& piece) {
  const std::filesystem::path growing = path.string() + ".new";
  const File file(growing, O_WRONLY | O_CREAT | (piece.offset() == 0 ? O_TRUNC : 0));
  if (file.size() != piece.offset()) throw Error(ErrorKind::failed, path.string() + ": a part of it is missing");
  if (piece.bytes() != nullptr) {
    const std::uint8_t* next = piece.bytes()->data();
    for (std::size_t left = piece.bytes()->size(); left > 0;) {
      const ssize_t written =
          pwrite(file.fd(), next, left, static_cast<off_t>(piece.offset() + piece.bytes()->size() - left));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) file.fail();
      next += written;
      left -= static_cast<std::size_t>(written);
    }
  }
  if (!piece.last()) return;
  if (fsync(file.fd()) != 0 || rename(growing.c_str(), path.c_str()) != 0) file.fail();
}

}  // namespace lp::launch
