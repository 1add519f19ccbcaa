#include "launchers/os/thread_states.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "launchers/os/process_stat.h"

namespace lp::launch {
namespace {

constexpr std::size_t kMostStates = 1000;

struct SystemCall {
  long number;
  const char* name;
  bool has_file;  // its first argument is a descriptor
};

// The calls in which threads sleep. A wait with a time limit is restart_syscall after a stop or a debugger.
constexpr std::array kCalls = {
    SystemCall{SYS_read, "read", true},
    SystemCall{SYS_write, "write", true},
    SystemCall{SYS_pread64, "pread", true},
    SystemCall{SYS_pwrite64, "pwrite", true},
    SystemCall{SYS_readv, "readv", true},
    SystemCall{SYS_writev, "writev", true},
    SystemCall{SYS_preadv, "preadv", true},
    SystemCall{SYS_pwritev, "pwritev", true},
    SystemCall{SYS_sendfile, "sendfile", true},
    SystemCall{SYS_splice, "splice", true},
    SystemCall{SYS_copy_file_range, "copy_file_range", true},
    SystemCall{SYS_getdents64, "getdents", true},
    SystemCall{SYS_fsync, "fsync", true},
    SystemCall{SYS_fdatasync, "fdatasync", true},
    SystemCall{SYS_syncfs, "syncfs", true},
    SystemCall{SYS_sync, "sync", false},
    SystemCall{SYS_sync_file_range, "sync_file_range", true},
    SystemCall{SYS_fallocate, "fallocate", true},
    SystemCall{SYS_ftruncate, "ftruncate", true},
    SystemCall{SYS_close, "close", true},
    SystemCall{SYS_flock, "flock", true},
    SystemCall{SYS_fcntl, "fcntl", true},
    SystemCall{SYS_ioctl, "ioctl", true},
    SystemCall{SYS_openat, "openat", false},
    SystemCall{SYS_newfstatat, "fstatat", false},
    SystemCall{SYS_statx, "statx", false},
    SystemCall{SYS_mkdirat, "mkdirat", false},
    SystemCall{SYS_unlinkat, "unlinkat", false},
    SystemCall{SYS_renameat2, "renameat", false},
    SystemCall{SYS_mmap, "mmap", false},
    SystemCall{SYS_munmap, "munmap", false},
    SystemCall{SYS_mprotect, "mprotect", false},
    SystemCall{SYS_madvise, "madvise", false},
    SystemCall{SYS_mremap, "mremap", false},
    SystemCall{SYS_msync, "msync", false},
    SystemCall{SYS_brk, "brk", false},
    SystemCall{SYS_futex, "futex", false},
    SystemCall{SYS_nanosleep, "nanosleep", false},
    SystemCall{SYS_clock_nanosleep, "clock_nanosleep", false},
    SystemCall{SYS_restart_syscall, "restart_syscall", false},
    SystemCall{SYS_sched_yield, "sched_yield", false},
    SystemCall{SYS_membarrier, "membarrier", false},
    SystemCall{SYS_ppoll, "ppoll", false},
    SystemCall{SYS_pselect6, "pselect", false},
    SystemCall{SYS_epoll_pwait, "epoll_wait", false},
    SystemCall{SYS_io_getevents, "io_getevents", false},
    SystemCall{SYS_io_uring_enter, "io_uring_enter", false},
    SystemCall{SYS_rt_sigtimedwait, "sigtimedwait", false},
    SystemCall{SYS_rt_sigsuspend, "sigsuspend", false},
    SystemCall{SYS_recvfrom, "recv", true},
    SystemCall{SYS_recvmsg, "recvmsg", true},
    SystemCall{SYS_recvmmsg, "recvmmsg", true},
    SystemCall{SYS_sendto, "send", true},
    SystemCall{SYS_sendmsg, "sendmsg", true},
    SystemCall{SYS_sendmmsg, "sendmmsg", true},
    SystemCall{SYS_accept, "accept", true},
    SystemCall{SYS_accept4, "accept", true},
    SystemCall{SYS_connect, "connect", true},
    SystemCall{SYS_semtimedop, "semtimedop", false},
    SystemCall{SYS_msgrcv, "msgrcv", false},
    SystemCall{SYS_wait4, "wait", false},
    SystemCall{SYS_waitid, "wait", false},
    SystemCall{SYS_clone, "clone", false},
    SystemCall{SYS_execve, "execve", false},
    SystemCall{SYS_exit_group, "exit", false},
#if defined(__x86_64__)
    SystemCall{SYS_open, "open", false},
    SystemCall{SYS_stat, "stat", false},
    SystemCall{SYS_mkdir, "mkdir", false},
    SystemCall{SYS_unlink, "unlink", false},
    SystemCall{SYS_rename, "rename", false},
    SystemCall{SYS_poll, "poll", false},
    SystemCall{SYS_select, "select", false},
    SystemCall{SYS_pause, "pause", false},
    SystemCall{SYS_epoll_wait, "epoll_wait", false},
    SystemCall{SYS_vfork, "vfork", false},
#endif
};

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A mutex of the C library begins with its word, a count, its owner, the number of its users, and its kind. A thread
// that waits for it sleeps while the word is 2. The library's inner locks have the same word, and something else behind
// it.
int owner_of_mutex(pid_t process, const std::array<std::uint64_t, 3>& futex) {
  constexpr std::uint64_t kContended = 2;
  const std::uint64_t operation = futex[1] & static_cast<std::uint64_t>(FUTEX_CMD_MASK);
  if ((futex[1] & FUTEX_PRIVATE_FLAG) == 0 || futex[2] != kContended) return 0;
  if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET) return 0;
  constexpr std::int32_t kMostThreads = 1 << 22;  // the kernel has no larger numbers of threads
  constexpr std::int32_t kKinds = 0x303;          // the bits of a mutex that one process uses
  std::array<std::int32_t, 5> words{};
  const iovec here{.iov_base = words.data(), .iov_len = sizeof words};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address there
  const iovec there{.iov_base = reinterpret_cast<void*>(futex[0]), .iov_len = sizeof words};
  const bool whole = process_vm_readv(process, &here, 1, &there, 1, 0) == static_cast<ssize_t>(sizeof words);
  const auto [word, count, owner, users, kind] = words;
  const bool is_mutex = owner > 0 && owner <= kMostThreads && users > 0 && users <= kMostThreads && count >= 0 &&
                        (kind & ~kKinds) == 0 && word != 0;
  return whole && is_mutex ? owner : 0;
}

// `text`: "NUMBER 0xARGUMENT ...", or "running".
void add_call(pid_t process, const std::string& text, ThreadState& thread) {
  std::istringstream fields(text);
  long number = -1;
  std::array<std::uint64_t, 3> arguments{};
  if (!(fields >> number)) return;
  for (std::uint64_t& argument : arguments) fields >> std::hex >> argument;
  const auto call =
      std::find_if(kCalls.begin(), kCalls.end(), [number](const SystemCall& one) { return one.number == number; });
  thread.call = call == kCalls.end() ? "system call " + std::to_string(number) : call->name;
  if (number == SYS_futex) thread.lock_owner = owner_of_mutex(process, arguments);
  if (call == kCalls.end() || !call->has_file) return;
  std::error_code ignored;
  const std::string descriptor = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(arguments[0]);
  thread.file = std::filesystem::read_symlink(descriptor, ignored).string();
}

// proc(5), /proc/PID/schedstat: the nanoseconds with a processor, and those of waiting for one.
void add_seconds(const std::string& directory, ThreadState& thread) {
  std::istringstream fields(text_of_file(directory + "/schedstat"));
  std::uint64_t ran = 0, starved = 0;
  if (!(fields >> ran >> starved)) return;
  thread.ran = static_cast<double>(ran) / 1e9;
  thread.starved = static_cast<double>(starved) / 1e9;
}

}  // namespace

std::vector<ThreadState> thread_states(pid_t process) {
  std::vector<ThreadState> threads;
  std::error_code error;
  const std::filesystem::path tasks = "/proc/" + std::to_string(process) + "/task";
  for (auto at = std::filesystem::directory_iterator(tasks, error);
       !error && at != std::filesystem::directory_iterator() && threads.size() < kMostStates; at.increment(error)) {
    const std::string directory = at->path().string();
    std::optional<ProcessStat> stat = process_stat(directory);
    if (!stat) continue;
    ThreadState& thread = threads.emplace_back();
    thread.id = stat->id;
    thread.name = std::move(stat->name);
    thread.state = stat->state;
    add_seconds(directory, thread);
    if (thread.state != "R") add_call(process, text_of_file(directory + "/syscall"), thread);
  }
  std::sort(threads.begin(), threads.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return threads;
}

}  // namespace lp::launch
