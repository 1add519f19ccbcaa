// The states of threads, as the kernel has them.

#include "launchers/os/thread_states.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "launchers/observation/thread_text.h"
#include "launchers/os/run_command.h"
#include "launchers/os/stacks.h"
#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "tests/directory.h"
#include "tests/error_of.h"

namespace lp::launch {
namespace {

// The state of the thread of this name, when it is as wanted.
template <class Wanted>
ThreadState wait_for(const std::string& name, Wanted wanted) {
  for (const Time end = after(std::chrono::seconds(20)); !passed(end);) {
    for (const ThreadState& thread : thread_states(getpid())) {
      if (thread.name == name && wanted(thread)) return thread;
    }
  }
  ADD_FAILURE() << name << " is never as wanted";
  return {};
}

TEST(ThreadStates, NameTheThreadThatHasTheMutex) {
  std::mutex mutex;
  Thread waiting;
  {
    const std::lock_guard held(mutex);
    waiting = spawn("waits for it", [&mutex] { const std::lock_guard lock(mutex); });
    const ThreadState state =
        wait_for("waits for it", [](const ThreadState& thread) { return thread.lock_owner != 0; });
    EXPECT_EQ(state.lock_owner, thread_id());
    EXPECT_EQ(state.state, "S");
    EXPECT_EQ(state.call, "futex");
  }
}

TEST(ThreadStates, AThreadThatCouldRunIsStarved) {
  cpu_set_t mine, first;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  CPU_ZERO(&first);
  int processor = 0;
  while (!CPU_ISSET(processor, &mine)) ++processor;
  CPU_SET(processor, &first);
  std::atomic<bool> ends = false;
  const auto use = [&](int policy) {
    sched_setaffinity(0, sizeof first, &first);
    const sched_param none{};
    sched_setscheduler(0, policy, &none);
    while (!ends) {
    }
  };
  const Thread idle = spawn("gets no turn", [&] { use(SCHED_IDLE); });
  const Thread busy = spawn("has all turns", [&] { use(SCHED_OTHER); });
  EXPECT_GT(wait_for("gets no turn", [](const ThreadState& thread) { return thread.starved > 0.2; }).starved, 0.2);
  ends = true;
}

TEST(ThreadStates, AWaitInLpIsNoLock) {
  Event event;
  const Thread waiting = spawn("waits in lp", [&event] { event.wait(); });
  const ThreadState state = wait_for("waits in lp", [](const ThreadState& thread) { return thread.call == "futex"; });
  EXPECT_EQ(state.lock_owner, 0);
  event.set();
}

// The C library has locks with the word of a mutex, behind which there is something else.
TEST(ThreadStates, AnInnerLockOfTheLibraryHasNoOwner) {
  alignas(8) std::array<int, 8> words = {2, 0, 12345, 0, 0};
  const Thread waiting =
      spawn("inner lock", [&words] { syscall(SYS_futex, words.data(), FUTEX_WAIT_PRIVATE, 2, nullptr, nullptr, 0); });
  EXPECT_EQ(wait_for("inner lock", [](const ThreadState& thread) { return thread.call == "futex"; }).lock_owner, 0);
  while (syscall(SYS_futex, words.data(), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0) == 0) {
  }
}

TEST(ThreadStates, NameTheFileOfARead) {
  const test::Directory directory;
  const std::string path = (directory.path() / "fifo").string();
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int fifo = open(path.c_str(), O_RDWR | O_CLOEXEC);
  {
    const Thread reading = spawn("reads", [fifo] {
      std::array<char, 1> byte{};
      [[maybe_unused]] const auto got = read(fifo, byte.data(), byte.size());
    });
    EXPECT_EQ(wait_for("reads", [](const ThreadState& thread) { return thread.call == "read"; }).file, path);
    EXPECT_EQ(write(fifo, "x", 1), 1);
  }
  close(fifo);
}

TEST(ThreadStates, AProcessThatHasEndedHasNone) { EXPECT_TRUE(thread_states(1 << 30).empty()); }

// The kernel restarts the wait of a process that was stopped meanwhile, which is no longer known by its name.
TEST(ThreadStates, AWaitThatGoesOnAfterAStopHasAName) {
  const pid_t child = fork();
  if (child == 0) {
    const timespec time{.tv_sec = 100, .tv_nsec = 0};
    nanosleep(&time, nullptr);
    _exit(0);
  }
  const auto wait_until = [child](const std::string& state, const std::string& call) {
    std::string seen;
    for (const Time end = after(std::chrono::seconds(20)); !passed(end);) {
      const std::vector<ThreadState> threads = thread_states(child);
      if (threads.empty()) continue;
      seen = threads.front().state + " " + threads.front().call;
      if (threads.front().state == state && (call.empty() || threads.front().call == call)) return;
    }
    ADD_FAILURE() << "it is never " << state << " " << call << ", but " << seen;
  };
  wait_until("S", "clock_nanosleep");
  kill(child, SIGSTOP);
  wait_until("T", "");
  kill(child, SIGCONT);
  wait_until("S", "restart_syscall");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(ThreadStates, ACallWithoutANameHasItsNumber) {
  EXPECT_EQ(place_of({.call = "fsync", .file = "/data/log"}), "fsync() of /data/log");
  EXPECT_EQ(place_of({.call = "system call 450"}), "system call 450");
}

TEST(Stacks, HaveTheNamesOfThreads) {
  Event event;
  const Thread waiting = spawn("has a stack", [&event] { event.wait(); });
  wait_for("has a stack", [](const ThreadState& thread) { return thread.call == "futex"; });
  const std::vector<ThreadState> threads = thread_states(getpid());
  const Output printed = run(stacks_command(getpid(), threads), kStacksLimit);
  const std::string text = stacks_text(threads, printed.text);
  EXPECT_NE(text.find("has a stack (S, in futex):"), std::string::npos) << text << printed.errors;
  EXPECT_NE(text.find("lp::Event::wait"), std::string::npos) << text;
  event.set();
}

// eu-stack interrupts the waits that it sees.
TEST(Stacks, NameAWaitWithALimit) {
  Event event;
  const Thread waiting = spawn("has a limit", [&event] { event.wait(after(std::chrono::seconds(100))); });
  wait_for("has a limit", [](const ThreadState& thread) { return thread.call == "futex"; });
  const std::vector<ThreadState> threads = thread_states(getpid());
  const std::string text = stacks_text(threads, run(stacks_command(getpid(), threads), kStacksLimit).text);
  EXPECT_NE(text.find("has a limit (S, in futex):"), std::string::npos) << text;
  event.set();
}

// A process that waits for a child as after vfork is blocked in the kernel: it takes no SIGSTOP, so eu-stack does not
// end. The signal must not stop it when the child has ended. The thread sanitizer makes a fork of vfork itself.
TEST(Stacks, ThatDoNotComeLeaveNothingStopped) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(pipe2(pipe.data(), O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, nullptr, nullptr, nullptr, nullptr) == 0) {
      char byte = 0;
      [[maybe_unused]] const auto got = read(pipe[0], &byte, 1);
      _exit(0);
    }
    _exit(7);
  }
  std::vector<ThreadState> threads;
  for (const Time end = after(std::chrono::seconds(20)); !passed(end) && (threads.empty() || threads[0].state != "D");)
    threads = thread_states(child);
  ASSERT_EQ(threads.at(0).state, "D");
  EXPECT_NE(test::error_of([&] {
              stacks_text(threads, run(stacks_command(child, threads), kStacksLimit).text);
            }).find("eu-stack printed no stack in time: a thread is blocked in the kernel"),
            std::string::npos);
  EXPECT_EQ(write(pipe[1], "x", 1), 1);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT_TRUE(WIFEXITED(status)) << "it is stopped";
  if (WIFSTOPPED(status)) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  close(pipe[0]);
  close(pipe[1]);
}

TEST(Stacks, SayThatThreadsAreMissing) {
  const std::string text =
      stacks_text({}, "PID 1 - process\nTID 7:\n#0  0x1 f\n#1  0x2 g_is_cu\neu-stack did not end in time\n");
  EXPECT_EQ(
      text,
      "thread 7:\n#0  0x1 f\n#1  0x2 g_is_cu\nOther threads are missing: eu-stack did not end in time. A thread is "
      "blocked in the kernel, or the host is busy.\n");
}

TEST(Stacks, ThatAreTooLongAreCutWithAWord) {
  std::string printed = "PID 1 - process\n";
  for (int i = 0; i < 100'000; ++i) printed += "TID " + std::to_string(i) + ":\n#0  0x1 f\n";
  const std::string text = stacks_text({}, printed);
  EXPECT_LE(text.size(), std::size_t{901} << 10);
  EXPECT_TRUE(text.ends_with("The rest is left out, because it is longer than 900K\n"));
}

TEST(Stacks, AreRefusedWithTheReason) {
  EXPECT_NE(test::error_of([] {
              stacks_text({}, "eu-stack: dwfl_linux_proc_attach pid 1: Operation not permitted\n");
            }).find("Operation not permitted"),
            std::string::npos);
  EXPECT_NE(test::error_of([] { stacks_text({}, "env: 'eu-stack': No such file or directory\n"); }).find("elfutils"),
            std::string::npos);
}

}  // namespace
}  // namespace lp::launch
