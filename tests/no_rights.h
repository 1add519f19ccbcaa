#pragma once
// A process that may read and write what others may, for tests of files that it may not. One at a time.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace lp::test {

inline constexpr uid_t kNobody = 65534;

// While it lives, this process has no more rights to files than others, also where the tests run as root.
class NoRights {
 public:
  NoRights() {
    if (before_ == 0) done_ = ::seteuid(kNobody) == 0;
  }
  ~NoRights() {
    if (done_ && ::seteuid(before_) != 0) std::abort();
  }
  NoRights(const NoRights&) = delete;
  NoRights& operator=(const NoRights&) = delete;

 private:
  const uid_t before_ = ::geteuid();
  bool done_ = false;
};

inline void give_to_all(const std::filesystem::path& path) {
  std::filesystem::permissions(path, std::filesystem::perms::all);
}

}  // namespace lp::test
