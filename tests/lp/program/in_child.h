#pragma once
// A piece of a test that runs in a child process, because it lowers limits that cannot be raised again. ctest runs each
// test by itself, so the child has no threads of other tests. One thread.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <exception>

#include "lp/base/function.h"

namespace lp {

// Returns the status of a child that ran `is_right`: 0 if that returned true.
inline int in_child(Function<bool()> is_right) {
  const pid_t child = fork();
  if (child == 0) {
    bool right = false;
    try {
      right = is_right();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(right ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

// Sets the limit of this process. Only the soft limit can be raised again.
enum class Limit { soft, hard };
inline bool limit(int resource, std::size_t most, Limit which = Limit::hard) {
  rlimit limits{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limits) != 0) return false;
  limits.rlim_cur = most;
  if (which == Limit::hard) limits.rlim_max = most;
  return setrlimit(static_cast<__rlimit_resource>(resource), &limits) == 0;
}

// Becomes a user whose threads are all of this process. Root has no limit of threads.
inline bool become_somebody() {
  constexpr uid_t kFirst =
      1'000'000;  // no user of this machine; another one for each process, as tests run side by side
  const uid_t somebody = kFirst + static_cast<uid_t>(getpid());
  return setresuid(somebody, somebody, somebody) == 0;
}

}  // namespace lp
