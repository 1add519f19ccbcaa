#include "launchers/record/failure_output.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include "launchers/os/backtrace.h"
#include "launchers/os/crash_handler.h"

namespace lp::launch {
namespace {

constexpr std::size_t kMostLines = 20;  // lines before the report of the death
constexpr std::string_view kSummary = "SUMMARY: ";
constexpr std::string_view kRuntimeError = ": runtime error: ";

bool is_crash(const std::string& line) { return line.starts_with(kCrashMark); }
// Matches "==7==ERROR: AddressSanitizer: ...", "WARNING: ThreadSanitizer: ..." and the form of
// UndefinedBehaviorSanitizer.
bool begins_report(const std::string& line) {
  return line.find("ERROR: AddressSanitizer: ") != std::string::npos ||
         line.find("ERROR: LeakSanitizer: ") != std::string::npos || line.starts_with("WARNING: ThreadSanitizer: ") ||
         line.find(kRuntimeError) != std::string::npos;
}
bool is_frame(const std::string& line) { return line.starts_with("    #"); }

// The finding of a sanitizer in one line; empty: no sanitizer has stopped this process.
std::string finding(const std::vector<std::string>& report) {
  const auto summary =
      std::find_if(report.begin(), report.end(), [](const std::string& line) { return line.starts_with(kSummary); });
  if (summary != report.end()) return summary->substr(kSummary.size());
  // UndefinedBehaviorSanitizer of Debian writes no summary. It stops a process at a finding, so only a stack follows.
  const bool last = !report.empty() && report.front().find(kRuntimeError) != std::string::npos &&
                    std::all_of(report.begin() + 1, report.end(),
                                [](const std::string& line) { return line.empty() || is_frame(line); });
  return last ? report.front() : std::string();
}

// A node that fails writes its error last, which the cause has already.
void drop_error(std::vector<std::string>& lines, const std::string& error) {
  std::vector<std::string> own;
  std::istringstream text(error);
  for (std::string line; std::getline(text, line);) own.push_back(line);
  if (own.size() > lines.size() || !std::equal(own.rbegin(), own.rend(), lines.rbegin())) return;
  lines.resize(lines.size() - own.size());
}

}  // namespace

void add_failure_output(std::vector<std::string> lines, Cause& cause) {
  drop_error(lines, cause.what);
  // A process may continue after a report, so the last report counts.
  const auto crash = std::find_if(lines.begin(), lines.end(), is_crash);
  const auto report = std::find_if(std::make_reverse_iterator(crash), lines.rend(), begins_report);
  auto end = crash;  // the end of the program's own output
  ProgramCode code;
  for (auto line = crash; line != lines.end(); ++line) {
    if (const auto its_code = read_code_line(*line)) code = *its_code;
    if (!is_crash(*line)) cause.backtrace.push_back(readable_frame(frame_in_file(*line, code)));
  }
  if (crash != lines.end() && crash->find(kStackOverflow) != std::string::npos &&
      cause.what.starts_with(describe(cause.exit))) {
    cause.what += kStackOverflow;
  }
  if (report != lines.rend()) {
    const auto begin = std::prev(report.base());
    const std::string found = finding({begin, crash});
    // In all other cases the finding has not ended the process, or the process ended anyway: a leak is found at the
    // end.
    if (!found.empty() && cause.what.starts_with(describe(cause.exit))) {
      cause.what += ": " + found;
      end = begin;
      if (cause.backtrace.empty()) {
        const auto first = std::find_if(begin, crash, is_frame);
        cause.backtrace.assign(first, std::find_if_not(first, crash, is_frame));
      }
    }
  }
  for (auto line = lines.begin(); line != end; ++line) {
    const bool ruler = line->find_first_not_of('=') == std::string::npos;  // or an empty line
    if (!ruler) cause.last_lines.push_back(std::move(*line));
  }
  if (cause.last_lines.size() > kMostLines)
    cause.last_lines.erase(cause.last_lines.begin(), cause.last_lines.end() - kMostLines);
}

}  // namespace lp::launch
