#pragma once
// What a process writes to standard error when a signal kills it: its name, the signal, and where it was. For main().

#include <string>
#include <string_view>

namespace lp::internal {

// The line before the backtrace begins with this.
inline constexpr std::string_view kCrashMark = "*** lp: ";
inline constexpr std::string_view kStackOverflow = ", stack overflow";  // what it says behind the signal

// From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT print a backtrace, and then do what they always do. A handler
// that is there already, as a sanitizer's, stays; what a sanitizer stops gets a last line with the name. `name` is for
// the text: "worker/1". That a stack has overflowed is told too, if it is the main thread's or one of the scheduler's.
void install_crash_handler(const std::string& name);

// A line of the backtrace with the C++ name readable.
std::string readable_frame(const std::string& line);

}  // namespace lp::internal
