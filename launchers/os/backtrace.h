#pragma once
// From the addresses of a crash to functions, files and lines. The crashed process writes where its program was loaded
// (crash_handler.h). The launcher has the same binary and asks addr2line of binutils, where that is installed.
// Functions; any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lp::launch {

// The addresses at which a process has loaded its program.
struct ProgramCode {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::uintptr_t bias = 0;  // the process's addresses minus those in the file
};

ProgramCode own_code();
// A line for the log, and back; nothing when it is another line.
std::string code_line(const ProgramCode& code);
std::optional<ProgramCode> read_code_line(const std::string& line);

// "prog(f+0x5)[0x55d0c0de1234]" with the address in the program's file, which the next function and addr2line know,
// "prog(f+0x5)[+0x1234]". Other frames stay.
std::string frame_in_file(const std::string& frame, const ProgramCode& code);

// Frames of the program in `binary` become "lp::f(int) at a.cc:31", with those of inlined functions before that of the
// function that they are in. They stay where nothing is known of them. May take some seconds.
void add_source_lines(std::vector<std::string>& backtrace, const std::string& binary);

}  // namespace lp::launch
