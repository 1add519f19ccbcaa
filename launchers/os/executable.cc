#include "launchers/os/executable.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "launchers/os/run_command.h"
#include "launchers/os/shell_quote.h"
#include "lp/base/error.h"

namespace lp::launch {
namespace {

constexpr std::size_t kHashDigits = 64;  // SHA-256 has as many
constexpr auto kHashLimit = std::chrono::minutes(1);

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorKind::failed, "this program cannot be copied to other hosts: " + what);
}

}  // namespace

Executable::Executable() : file_(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)) {
  struct stat info {};
  if (!file_ || fstat(file_.number(), &info) != 0) fail(std::strerror(errno));
  size_ = static_cast<std::size_t>(info.st_size);
  std::array<char, 80> identity{};
  std::snprintf(identity.data(), identity.size(), "%ju %ju %jd.%09ld", static_cast<std::uintmax_t>(info.st_ino),
                static_cast<std::uintmax_t>(info.st_size), static_cast<std::intmax_t>(info.st_ctim.tv_sec),
                info.st_ctim.tv_nsec);
  identity_ = identity.data();
  utsname here{};
  uname(&here);
  machine_ = here.machine;
  std::error_code ignored;
  path_ = std::filesystem::read_symlink("/proc/self/exe", ignored);
}

const std::string& Executable::hash() const {
  if (!hash_.empty()) return hash_;
  const Output sum = run({"sha256sum", "/proc/" + std::to_string(getpid()) + "/exe"}, kHashLimit);
  const std::string digits = sum.text.substr(0, kHashDigits);
  if (sum.code != 0 || digits.size() != kHashDigits) fail("sha256sum does not work here: " + sum.errors);
  return hash_ = digits;
}

std::string Executable::find(const std::string& otherwise) const {
  std::ostringstream script;
  script << "test \"$(uname -m)\" = " << machine_ << " || { echo \"" << kRefused << "the program was built for "
         << machine_ << ", and this host is $(uname -m)\" >&2; exit 1; }; "
         << "same() { test -x \"$1\" && { test \"$(stat -Lc '%i %s %.9Z' \"$1\" 2>&1)\" = '" << identity_ << "' || "
         << "case $(sha256sum <\"$1\") in " << hash() << "*) : ;; *) false ;; esac; }; }; "
         << "p=" << shell_quote(path_) << "; "
         << "if same \"$p\"; then :; else "
         << "d=\"${XDG_CACHE_HOME:-$HOME/.cache}/lp/" << hash() << "\"; "
         << "p=\"$d\"/" << shell_quote(std::filesystem::path(path_).filename()) << "; "
         << "if same \"$p\"; then :; else " << otherwise << "; fi; fi; ";
  return script.str();
}

std::string Executable::take() const {
  std::ostringstream script;
  script << "echo " << shell_quote(std::string(kWanted)) << "; umask 077; "
         << "mkdir -p \"$d\" && head -c " << size_ << " >\"$p.$$\" && chmod 700 \"$p.$$\" && same \"$p.$$\" && "
         << "mv \"$p.$$\" \"$p\" || { rm -f \"$p.$$\"; echo \"" << kRefused
         << "the program could not be copied to $d\" >&2; exit 1; }";
  return script.str();
}

bool Executable::send(int socket, std::size_t& sent) const {
  std::array<char, 65536> bytes;
  while (sent < size_) {
    const ssize_t got = pread(file_.number(), bytes.data(), bytes.size(), static_cast<off_t>(sent));
    if (got <= 0) return true;  // the other side detects that the file is too short
    const ssize_t taken = ::send(socket, bytes.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
    if (taken < 0) return errno != EAGAIN;  // the other side reports the reason
    sent += static_cast<std::size_t>(taken);
  }
  return true;
}

}  // namespace lp::launch
