#include "tools/lp/log_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "tools/lp/runs.h"

namespace lp::tool {
namespace {

constexpr std::size_t kLongestNote = 512;

// Nothing but a file is a log: a FIFO in its place would never end.
Descriptor open_file(const std::filesystem::path& path) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  const bool regular = file && fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode);
  return regular ? std::move(file) : Descriptor();
}

Descriptor open_part(const std::filesystem::path& path, const char* word) {
  std::filesystem::path part = path;
  return open_file(part.replace_extension(std::string(".") + word + ".log"));
}

// Returns true if both are the same file, or neither is a file.
bool same_file(const Descriptor& a, const Descriptor& b) {
  struct stat one {
  }, other{};
  if (!a || !b) return !a && !b;
  return fstat(a.number(), &one) == 0 && fstat(b.number(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

struct Parts {
  Descriptor newest{};
  Descriptor previous{};
  Descriptor first{};
};

// The parts of a log at one moment: it may turn over meanwhile.
Parts open_parts(const std::filesystem::path& path) {
  Parts parts;
  for (int tries = 0; tries < 10; ++tries) {
    parts = {open_file(path), open_part(path, "previous"), open_part(path, "first")};
    if (same_file(parts.newest, open_file(path))) break;
  }
  return parts;
}

std::uint64_t size_of(const Descriptor& file) {
  struct stat status {};
  return fstat(file.number(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

void LogReader::read(Take take) {
  if (!part_) return begin(take);
  read_part(take);
  if (same_file(open_file(path_), part_)) return;
  Parts parts = open_parts(path_);
  if (!parts.newest) return;
  read_part(take);  // no more text comes into this part
  if (parts.previous && !same_file(parts.previous, part_) && !same_file(parts.first, part_)) {
    report_gap(parts.newest, take);
    read_next_part(std::move(parts.previous), take);
  }
  read_next_part(std::move(parts.newest), take);
}

void LogReader::finish(Take take) {
  read([&](const LogLine& line) { take(line); });
  lines_.finish([&](std::string_view line) { give(line, take); });
}

void LogReader::begin(Take& take) {
  Parts parts = open_parts(path_);
  if (!parts.newest) return;
  if (parts.first) {
    part_ = std::move(parts.first);
    read_part(take);
    if (parts.previous) {
      report_gap(parts.newest, take);
      read_next_part(std::move(parts.previous), take);
    }
    read_next_part(std::move(parts.newest), take);
  } else {
    part_ = std::move(parts.newest);
    read_part(take);
  }
}

// The note at the beginning of the newest part has the number of bytes that were dropped before the previous part.
void LogReader::report_gap(const Descriptor& newest, Take& take) {
  std::array<char, kLongestNote> bytes;
  const ssize_t got = pread(newest.number(), bytes.data(), bytes.size(), 0);
  const std::string_view text(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.find(" were dropped; ") == std::string_view::npos) return;
  lines_.finish([&](std::string_view rest) { give(rest, take); });
  give(line, take);
}

void LogReader::read_next_part(Descriptor part, Take& take) {
  part_ = std::move(part);
  at_note_ = true;
  note_.clear();
  offset_ = 0;
  read_part(take);
}

// Reads what is there now: a node can print faster than its lines are taken, and then there would be no end.
void LogReader::read_part(Take& take) {
  std::array<char, 65536> bytes;
  bool timed = false;
  const std::uint64_t end = size_of(part_);
  while (offset_ < end) {
    const std::size_t most = std::min<std::size_t>(bytes.size(), end - offset_);
    const ssize_t got = ::read(part_.number(), bytes.data(), most);
    if (got <= 0) return;
    // read after the part, because the log notes a time before it writes the text
    if (!std::exchange(timed, true)) find_times();
    std::string_view rest(bytes.data(), static_cast<std::size_t>(got));
    while (!rest.empty()) {
      const auto next = std::upper_bound(times_.begin(), times_.end(), offset_,
                                         [](std::uint64_t offset, const auto& time) { return offset < time.offset; });
      now_.earliest = next == times_.begin() ? 0 : std::prev(next)->time;
      now_.latest = next == times_.end() ? last_written_ : next->time;
      const std::string_view part =
          next == times_.end() ? rest : rest.substr(0, static_cast<std::size_t>(next->offset - offset_));
      offset_ += part.size();
      rest.remove_prefix(part.size());
      take_bytes(part, take);
    }
  }
}

// The times are beside the part under its present name.
void LogReader::find_times() {
  times_.clear();
  struct stat status {};
  fstat(part_.number(), &status);
  // The kernel dates a write by its last tick, and some file systems cut that to the second: the write can be later.
  last_written_ = static_cast<double>(status.st_mtim.tv_sec) + static_cast<double>(status.st_mtim.tv_nsec) / 1e9 + 1;
  for (const char* word : {".log", ".previous.log", ".first.log"}) {
    std::filesystem::path path = path_;
    path.replace_extension(word);
    if (!same_file(open_file(path), part_)) continue;
    const auto text = read_text(launch::times_path(path));
    if (text.has_value()) times_ = launch::parse_times(*text);
    return;
  }
}

void LogReader::give(std::string_view line, Take& take) const {
  LogLine with_times = now_;
  with_times.text = line;
  take(with_times);
}

void LogReader::take_bytes(std::string_view bytes, Take& take) {
  const auto give_line = [&](std::string_view line) { give(line, take); };
  if (!at_note_) return lines_.feed(bytes, give_line);
  note_ += bytes;
  const std::size_t end = note_.find('\n');
  if (end == std::string::npos && note_.size() < kLongestNote) return;
  at_note_ = false;
  const std::string text = std::exchange(note_, {});
  const std::string_view line = std::string_view(text).substr(0, end);
  const bool is_note = line.starts_with("[lp: ") && line.ends_with(".first.log]");
  lines_.feed(std::string_view(text).substr(is_note ? end + 1 : 0), give_line);
}

}  // namespace lp::tool
