#include "launchers/os/crash_handler.h"

#include <cxxabi.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

#include "launchers/os/backtrace.h"
#include "launchers/os/exit_status.h"
#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/program/crash_note.h"
#include "lp/rpc/core/service_instance.h"

// A function of a sanitizer's runtime; null where the executable has none.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());  // NOLINT: its name

namespace lp::launch {
namespace {

constexpr int kDeepest = 48;
// the distance to the stack's end within which a frame begins
constexpr std::uintptr_t kNearStack = std::uintptr_t{1} << 16;
// A process that cannot get as much has no memory for a thread's stack or a large message either.
constexpr std::size_t kLeastMemory = std::size_t{16} << 20;

// Globals, because a signal handler can reach nothing else. main() writes them once, before any thread exists.
std::array<char, 256> crash_title;
std::array<char, 128> crash_code;       // the line that locates the program's code
std::array<char, 1 << 16> crash_stack;  // for the main thread, whose own stack may have overflowed
bool exits_without_memory = false;
Word crashed_thread = 0;  // the first thread that crashed; it reports and ends the process
// A thread could not go on, because there was no memory, no thread or no descriptor: the exception names which.
std::atomic<bool> lacks_something = false;

void put(const char* text) { [[maybe_unused]] const auto size = write(STDERR_FILENO, text, strlen(text)); }

// A library aborts when it gets no thread, and does not report which limit was reached. Forking a process shows it.
void put_limit() {
  const pid_t child = _Fork();  // fork() would take locks
  if (child == 0) _exit(0);
  if (child > 0) {
    waitpid(child, nullptr, 0);
  } else if (errno == EAGAIN) {
    put("no thread or process can be started here: raise the limit, which is `ulimit -u`, /proc/sys/kernel/threads-max "
        "or the container's pids.max, or run fewer nodes on a host\n");
  }
}

// A library aborts when it gets no memory, too, and an exception about it ends a thread that cannot do without.
bool put_memory() {
  void* const trial = mmap(nullptr, kLeastMemory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (trial != MAP_FAILED) {
    munmap(trial, kLeastMemory);
    return false;
  }
  put("out of memory: the process may have no more: raise the limit, which is `ulimit -v` or that of its container, or "
      "let it do less\n");
  return true;
}

// Writes "*** lp: worker/1: ", after the note of this thread.
void put_title() {
  if (const CrashNote* note = CrashNote::of_this_thread(); note != nullptr) note->write_line(STDERR_FILENO);
  put(crash_title.data());
  // Where nodes are threads, the title is the program's name.
  if (const rpc::CallContext* frame = rpc::current_call_context(); frame != nullptr) {
    const char* node = frame->node->name().c_str();
    if (strstr(crash_title.data(), node) == nullptr) {
      put("in ");
      put(node);
      put(": ");
    }
  }
}

// Writes this thread into the word, if no other is there; then it waits until the process ends. Returns false when this
// thread was there already.
bool claim(Word& word) {
  const auto self = static_cast<std::uint32_t>(gettid());
  std::uint32_t other = 0;
  if (word.compare_exchange_strong(other, self)) return true;
  if (other == self) return false;
  for (;;) park(word, other);
}

// Lets the first thread that crashes go on. When memory runs out, many do at once, and the first would be ended by the
// others in the middle of its report. Returns false when it has crashed in its own report.
bool may_report() { return claim(crashed_thread); }

// An exception leaves a thread that cannot do without what it asked for.
[[noreturn]] void on_terminate() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type != nullptr && (*type == typeid(std::bad_alloc) || *type == typeid(Error))) lacks_something = true;
  static Word terminated = 0;
  claim(terminated);
  __gnu_cxx::__verbose_terminate_handler();  // names the exception, and aborts
  abort();
}

void on_sanitizer_death() {
  put_title();
  put("was stopped by a sanitizer; its report is above\n");
}

// The stack pointer at the moment of the signal; 0: unknown.
std::uintptr_t stack_pointer([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.sp;
#else
  return 0;
#endif
}

// A stack ends at pages that no access may touch. The kernel therefore stops a thread that has used up its stack close
// to its stack pointer.
bool is_stack_overflow(const siginfo_t& info, const void* context) {
  if ((info.si_signo != SIGSEGV && info.si_signo != SIGBUS) || info.si_code <= 0) return false;  // or a process sent it
  const std::uintptr_t stack = stack_pointer(context);
  const auto fault = reinterpret_cast<std::uintptr_t>(info.si_addr);
  return stack != 0 && (fault > stack ? fault - stack : stack - fault) < kNearStack;
}

void on_crash(int signal, siginfo_t* info, void* context) {
  if (!may_report()) {
    ::signal(signal, SIG_DFL);
    return;
  }
  if (signal == SIGABRT) put_limit();
  const bool lacks = signal == SIGABRT && (put_memory() || lacks_something);
  put_title();
  const char* name = sigabbrev_np(signal);
  put("SIG");
  put(name == nullptr ? "?" : name);
  if (is_stack_overflow(*info, context)) put(kStackOverflow.data());
  put(", backtrace:\n");
  put(crash_code.data());
  std::array<void*, kDeepest> frames;
  const int depth = backtrace(frames.data(), kDeepest);
  // After the handler, its trampoline and the place itself, the frames are return addresses. Such an address is the
  // next instruction, which may belong to another function.
  for (int i = 3; i < depth; ++i)
    frames[static_cast<std::size_t>(i)] = static_cast<char*>(frames[static_cast<std::size_t>(i)]) - 1;
  backtrace_symbols_fd(frames.data(), depth, STDERR_FILENO);
  if (lacks && exits_without_memory) _exit(1);
  ::signal(signal, SIG_DFL);
  raise(signal);  // kills the process once this returns
}

}  // namespace

void install_crash_handler(const std::string& name, WithoutMemory without_memory) {
  exits_without_memory = without_memory == WithoutMemory::exit;
  const std::string title = "\n" + std::string(kCrashMark) + name.substr(0, crash_title.size() - 32) + ": ";
  std::copy(title.begin(), title.end(), crash_title.begin());
  const std::string code = code_line(own_code()) + "\n";
  std::copy(code.begin(), code.end(), crash_code.begin());
  std::array<void*, 1> frame;
  backtrace(frame.data(), 1);  // loads the library now, because a handler must not
  stack_t stack{};
  sigaltstack(nullptr, &stack);
  const bool has_stack = (stack.ss_flags & SS_DISABLE) == 0;
  stack.ss_flags = 0;
  stack.ss_sp = crash_stack.data();
  stack.ss_size = crash_stack.size();
  if (!has_stack) sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_DFL) sigaction(signal, &action, nullptr);
  }
  std::set_terminate(on_terminate);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(on_sanitizer_death);
}

std::string readable_frame(const std::string& line) {
  const std::size_t begin = line.find("(_Z");
  const std::size_t end = line.find('+', begin);
  if (begin == std::string::npos || end == std::string::npos) return line;
  const std::string mangled = line.substr(begin + 1, end - begin - 1);
  return line.substr(0, begin + 1) + readable_type(mangled.c_str()) + line.substr(end);
}

}  // namespace lp::launch
