#pragma once
// A disk that is full, for a test of one process. One at a time.

#include <sys/resource.h>

#include <csignal>
#include <cstdint>

namespace lp::test {

// While it lives, files of this process cannot grow beyond a size: a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(std::uint64_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

}  // namespace lp::test
