#include "launchers/os/backtrace.h"

#include <link.h>

#include <array>
#include <cstdio>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "launchers/os/crash_handler.h"
#include "launchers/os/run_command.h"

namespace lp::launch {
namespace {

constexpr std::string_view kCodeTitle = "its program is loaded at ";
constexpr std::string_view kInFile = "[+0x";
constexpr auto kTimeForLines = std::chrono::seconds(10);

std::string hex(std::uintptr_t number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%lx", static_cast<unsigned long>(number));
  return text.data();
}

// "0x1234" at the end of a frame that is in the program's file; empty for another one.
std::string address_in_file(const std::string& frame) {
  const std::size_t begin = frame.rfind(kInFile);
  if (begin == std::string::npos || frame.back() != ']') return {};
  const std::size_t digits = begin + kInFile.size();
  const std::string number = frame.substr(digits, frame.size() - 1 - digits);
  const bool fine = !number.empty() && number.find_first_not_of("0123456789abcdef") == std::string::npos;
  return fine ? "0x" + number : std::string();
}

// "f() at a.cc:31"; empty where the function is unknown.
std::string source_line(const std::string& function, std::string place) {
  if (function.empty() || function == "??") return {};
  place = place.substr(0, place.find(" (discriminator"));
  return place.starts_with("??") ? function : function + " at " + place;
}

// What `addr2line -Cfia` has printed: for each address a line with it, and then, from the innermost inlined function
// on, a line with the name and one with the place.
std::map<std::uintptr_t, std::vector<std::string>> read_answer(std::istream& answer) {
  std::map<std::uintptr_t, std::vector<std::string>> lines;
  std::uintptr_t address = 0;
  for (std::string line; std::getline(answer, line);) {
    if (line.starts_with("0x")) {
      address = std::stoull(line, nullptr, 16);
      continue;
    }
    std::string place;
    std::getline(answer, place);
    if (std::string found = source_line(line, std::move(place)); !found.empty())
      lines[address].push_back(std::move(found));
  }
  return lines;
}

}  // namespace

ProgramCode own_code() {
  ProgramCode code;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* out) {
        ProgramCode& found = *static_cast<ProgramCode*>(out);
        found.bias = object->dlpi_addr;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& part = object->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
          found.begin = object->dlpi_addr + part.p_vaddr;
          found.end = found.begin + part.p_memsz;
        }
        return 1;  // the program comes first
      },
      &code);
  return code;
}

std::string code_line(const ProgramCode& code) {
  return std::string(kCrashMark) + std::string(kCodeTitle) + hex(code.begin) + " " + hex(code.end) + " " +
         hex(code.bias);
}

std::optional<ProgramCode> read_code_line(const std::string& line) {
  const std::string title = std::string(kCrashMark) + std::string(kCodeTitle);
  if (!line.starts_with(title)) return std::nullopt;
  ProgramCode code;
  std::istringstream numbers(line.substr(title.size()));
  numbers >> std::hex >> code.begin >> code.end >> code.bias;
  if (!numbers || code.bias > code.begin || code.begin > code.end) return std::nullopt;
  return code;
}

std::string frame_in_file(const std::string& frame, const ProgramCode& code) {
  const std::size_t begin = frame.rfind("[0x");
  if (begin == std::string::npos || frame.back() != ']') return frame;
  std::istringstream number(frame.substr(begin + 1));
  std::uintptr_t address = 0;
  if (!(number >> std::hex >> address) || address < code.begin || address >= code.end) return frame;
  return frame.substr(0, begin) + "[+" + hex(address - code.bias) + "]";
}

void add_source_lines(std::vector<std::string>& backtrace, const std::string& binary) {
  std::vector<std::string> command{"addr2line", "-Cfia", "-e", binary};
  const std::size_t without_addresses = command.size();
  for (const std::string& frame : backtrace) {
    if (std::string address = address_in_file(frame); !address.empty()) command.push_back(std::move(address));
  }
  if (command.size() == without_addresses) return;
  const Output output = run(command, kTimeForLines);
  if (output.code != 0) return;
  std::istringstream answer(output.text);
  const auto lines = read_answer(answer);
  std::vector<std::string> result;
  for (std::string& frame : backtrace) {
    const std::string address = address_in_file(frame);
    const auto found = address.empty() ? lines.end() : lines.find(std::stoull(address, nullptr, 16));
    if (found == lines.end()) {
      result.push_back(std::move(frame));
    } else {
      result.insert(result.end(), found->second.begin(), found->second.end());
    }
  }
  backtrace = std::move(result);
}

}  // namespace lp::launch
