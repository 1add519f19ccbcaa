#pragma once
// When a signal kills a process, writes its name, the signal and a backtrace to standard error. For main().

#include <cstdint>
#include <string>
#include <string_view>

namespace lp::launch {

// The line before the backtrace begins with this mark.
inline constexpr std::string_view kCrashMark = "*** lp: ";
inline constexpr std::string_view kStackOverflow = ", stack overflow";  // follows the signal's name

// What becomes of a process that gets no more memory, and ends because of that: its usual death by SIGABRT, which a
// supervisor reports; or, where nobody supervises, the exit code 1.
enum class WithoutMemory : std::uint8_t { abort, exit };

// Makes SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT print a backtrace before their usual effect. A handler that is
// already installed, such as a sanitizer's, stays; a process that a sanitizer stops prints a last line with the name.
// `name` appears in the text: "worker/1". The text reports a stack overflow of the main thread and of the scheduler's
// threads, and a lack of memory or of threads.
void install_crash_handler(const std::string& name, WithoutMemory without_memory = WithoutMemory::abort);

// Returns a line of the backtrace with its C++ name demangled.
std::string readable_frame(const std::string& line);

}  // namespace lp::launch
