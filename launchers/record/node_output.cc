#include "launchers/record/node_output.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "lp/base/utf8.h"

namespace lp::launch {
namespace {

constexpr std::size_t kLastLines = 160;  // a sanitizer's report is long
constexpr std::size_t kWidest = 24;      // the longest prefix
constexpr std::array kColours = {"36", "33", "32", "35", "34", "31", "96", "93", "92", "95"};

// The length of the colour sequence at the start of `text`; 0 when there is none.
std::size_t colour_length(std::string_view text) {
  if (!text.starts_with("\033[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// Whether the text begins with a character that acts on a terminal: control characters but tab (C0, DEL, and in UTF-8
// C1, U+0080 to U+009F), and the marks that turn the direction of text (U+202A to U+202E, U+2066 to U+2069).
bool begins_with_control(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto within = [](unsigned value, unsigned low, unsigned high) { return value >= low && value <= high; };
  if (byte(0) < 0x20) return byte(0) != '\t';
  if (byte(0) == 0xC2) return within(byte(1), 0x80, 0x9F);
  if (byte(0) != 0xE2) return byte(0) == 0x7F;
  return (byte(1) == 0x80 && within(byte(2), 0xAA, 0xAE)) || (byte(1) == 0x81 && within(byte(2), 0xA6, 0xA9));
}

}  // namespace

std::string printable(std::string_view line) {
  std::string result;
  result.reserve(line.size());
  while (!line.empty()) {
    std::size_t length = colour_length(line);
    if (length == 0) {
      std::size_t plain = 0;
      while (plain < line.size() && !begins_with_control(line.substr(plain))) ++plain;
      length = valid_utf8_prefix(line.substr(0, plain));
    }
    if (length > 0) {
      result += line.substr(0, length);
    } else {
      length = 1;
      std::array<char, 8> hex{};
      std::snprintf(hex.data(), hex.size(), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(line[0])));
      result += hex.data();
    }
    line.remove_prefix(length);
  }
  return result;
}

std::string printable_word(std::string_view word) {
  std::string line;
  for (const char c : word) {
    if (c == '\033') {
      line += "\\x1b";
    } else {
      line += c == '\n' || c == '\t' ? ' ' : c;
    }
  }
  return printable(line);
}

void LineCutter::feed(std::string_view bytes, Function<void(std::string_view)> take) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (rest_.size() + part.size() > kLongest) {
      const std::size_t room = kLongest - rest_.size();
      rest_ += part.substr(0, room);
      take(rest_);
      rest_.clear();
      bytes.remove_prefix(room);
      continue;
    }
    if (end == std::string_view::npos) {
      rest_ += part;
      return;
    }
    if (rest_.empty()) {
      take(part);
    } else {
      rest_ += part;
      take(rest_);
      rest_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
}

void LineCutter::finish(Function<void(std::string_view)> take) {
  if (!rest_.empty()) take(std::exchange(rest_, {}));
}

NodeOutput::NodeOutput(std::vector<std::string> processes, Options options, Terminal* terminal)
    : options_(std::move(options)), terminal_(terminal) {
  processes_.reserve(processes.size());
  for (std::string& name : processes) {
    width_ = std::max(width_, std::min(name.size(), kWidest));
    NodeLog log(options_.logs / log_name(name), options_.log_bytes);
    processes_.push_back({.name = std::move(name), .log = std::move(log), .cutters = {}, .last = {}});
  }
}

std::filesystem::path NodeOutput::log_name(const std::string& process) {
  return process.substr(0, process.find(',')) + ".log";
}

void NodeOutput::begin(std::size_t process) { processes_[process].last.clear(); }

void NodeOutput::take(std::size_t process, bool error, std::string_view bytes) {
  if (!options_.logs.empty()) {
    std::string fault;
    if (!processes_[process].log.write(bytes, fault) && !fault.empty() && !std::exchange(log_failed_, true)) {
      warn(terminal_, "logs are lost from now on, but the program continues: " + fault);
    }
  }
  processes_[process].cutters[error].feed(bytes, [&](std::string_view line) { show(process, error, line); });
}

void NodeOutput::finish(std::size_t process) {
  for (const bool error : {false, true}) {
    processes_[process].cutters[error].finish([&](std::string_view line) { show(process, error, line); });
  }
}

void NodeOutput::show(std::size_t process, bool error, std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  Process& from = processes_[process];
  const std::string text = printable(line);
  if (error) {
    from.last.push_back(text);
    if (from.last.size() > kLastLines) from.last.pop_front();
  }
  if (!options_.lines || terminal_ == nullptr) return;
  error = error || options_.all_to_error;
  std::string prefix = from.name;
  prefix.resize(std::max(prefix.size(), width_), ' ');
  prefix += " | ";
  if (terminal_->colours(error)) {
    prefix = "\033[" + std::string(kColours[process % kColours.size()]) + "m" + prefix + "\033[0m";
  }
  terminal_->write(error, prefix + text + "\n");
}

std::vector<std::string> NodeOutput::last_lines(std::size_t process) const {
  return {processes_[process].last.begin(), processes_[process].last.end()};
}

}  // namespace lp::launch
