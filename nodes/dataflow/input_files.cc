#include "nodes/dataflow/input_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "lp/base/error.h"
#include "nodes/dataflow/csv_row.h"
#include "nodes/dataflow/file_window.h"
#include "nodes/dataflow/record_reader.h"
#include "nodes/dataflow/user_paths.h"

namespace lp {
namespace {

namespace fs = std::filesystem;

bool hidden(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name.starts_with('_');
}

// A link below a directory that leads to no file here. A batch must have its input: it reads it from another host, or
// fails on it. A followed directory may get it yet.
enum class LostLink : std::uint8_t { passed_over, input };

// Finds the files of paths, and those that cannot be read.
class InputSearch {
 public:
  explicit InputSearch(LostLink lost_link) : lost_link_(lost_link) {}
  // Returns false when nothing matches.
  bool add(const std::string& path) {
    const auto type = type_of(path);
    if (!type) return true;
    if (*type == fs::file_type::not_found) return add_glob(path);
    add(path, *type);
    return true;
  }
  std::vector<std::string> files() const { return {paths_.begin(), paths_.end()}; }
  std::vector<UnreadableInput> take_unreadable() { return std::move(unreadable_); }

 private:
  void note(const std::string& path, const std::error_code& error) {
    if (error == std::errc::no_such_file_or_directory) return;  // it has just gone
    unreadable_.push_back({.path = path, .why = "an input cannot be read: " + path + ": " + error.message()});
  }

  // Nothing when the path cannot be read.
  std::optional<fs::file_type> type_of(const fs::path& path) {
    std::error_code error;
    const fs::file_type type = fs::status(path, error).type();
    if (type != fs::file_type::none) return type;
    note(path.string(), error);
    return std::nullopt;
  }

  void add(const std::string& path, fs::file_type type) {
    if (type == fs::file_type::directory) {
      add_directory(path);
    } else if (type == fs::file_type::regular || type == fs::file_type::not_found) {
      paths_.insert(path);
    } else {
      unreadable_.push_back({.path = path, .why = path + " is no regular file: name files, directories or globs"});
    }
  }

  void add_directory(const fs::path& directory) {
    std::error_code error;
    for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
      if (hidden(at->path())) continue;
      const auto type = type_of(at->path());
      std::error_code ignored;
      const bool lost = type == fs::file_type::not_found && at->is_symlink(ignored);
      if (type == fs::file_type::regular || (lost && lost_link_ == LostLink::input)) paths_.insert(at->path().string());
      if (type == fs::file_type::directory && !at->is_symlink(ignored)) add_directory(at->path());
    }
    if (error) note(directory.string(), error);
  }

  // The paths that match. It notes the directories that cannot be listed: their files are missing.
  std::vector<std::string> matches(const std::string& pattern, bool directories = false) {
    return dataflow::paths_like(pattern, directories,
                                [this](const std::string& path, const std::error_code& error) { note(path, error); });
  }

  // glob() passes over directories in which it may not look for a name.
  void note_closed_directories(const std::string& pattern) {
    for (std::size_t end = pattern.find('/', 1); end != std::string::npos; end = pattern.find('/', end + 1)) {
      for (const std::string& path : matches(pattern.substr(0, end), /*directories=*/true)) {
        std::error_code error;
        if (!fs::is_directory(path, error) || ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0) continue;
        note(path, std::make_error_code(std::errc::permission_denied));
      }
    }
  }

  // Returns false when nothing matches, and nothing is missing.
  bool add_glob(const std::string& pattern) {
    const std::size_t before = unreadable_.size();
    bool found = false;
    for (const std::string& one : dataflow::alternatives_of(pattern)) {
      note_closed_directories(one);
      for (const std::string& path : matches(one)) {
        found = true;
        if (const auto type = type_of(path)) add(path, *type);
      }
    }
    return found || unreadable_.size() > before;
  }

  const LostLink lost_link_;
  std::set<std::string> paths_{};
  std::vector<UnreadableInput> unreadable_{};
};

// Each file under the first of its names.
std::vector<std::string> once_each(const std::vector<std::string>& files) {
  std::vector<std::string> out;
  std::set<std::pair<::dev_t, ::ino_t>> seen;
  for (const std::string& path : files) {
    struct ::stat status {};
    if (::stat(path.c_str(), &status) == 0 && !seen.emplace(status.st_dev, status.st_ino).second) continue;
    out.push_back(path);
  }
  return out;
}

// Without links and "..", as far as the path exists; the rest may be a pattern.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  fs::path out = fs::weakly_canonical(absolute, error);
  if (error) out = absolute.lexically_normal();
  return out.has_filename() ? out : out.parent_path();
}

// The offset after the first line end from `from` on.
std::uint64_t after_line_end(dataflow::FileWindow& file, std::uint64_t from) {
  for (std::string_view bytes = file.at(from); !bytes.empty(); bytes = file.at(from)) {
    const std::size_t end = bytes.find('\n');
    if (end != std::string_view::npos) return from + end + 1;
    from += bytes.size();
  }
  return file.size();
}

// Finds the ends of rows in a file of CSV, in one pass over it.
class CsvBoundaries {
 public:
  CsvBoundaries(dataflow::FileWindow& file, char separator) : file_(file), rows_(separator, 0) {}

  // The offset after the first row that ends at `target` or behind it, which grows from call to call.
  std::uint64_t after(std::uint64_t target) {
    while (at_ < target) {
      const std::string_view bytes = file_.at(at_).substr(0, target - at_);
      if (bytes.empty()) return file_.size();
      rows_.pass(bytes);
      at_ += bytes.size();
    }
    for (std::string_view bytes = file_.at(at_); !bytes.empty(); bytes = file_.at(at_)) {
      const std::size_t end = rows_.row_end(bytes, 0);
      at_ += std::min(end + 1, bytes.size());
      if (end < bytes.size()) return at_;
    }
    return file_.size();
  }

 private:
  dataflow::FileWindow& file_;
  dataflow::CsvScanner rows_;
  std::uint64_t at_ = 0;
};

std::uint64_t after_prefixed(dataflow::FileWindow& file, std::uint64_t& at, std::uint64_t target) {
  while (at < target) {
    if (file.size() - at < dataflow::kPrefixBytes) {
      throw Error(ErrorKind::failed, file.path() + ": the record at byte " + std::to_string(at) + " is cut off");
    }
    std::uint32_t size = 0;
    std::memcpy(&size, file.at(at, dataflow::kPrefixBytes).data(), sizeof(size));
    if (file.size() - at - dataflow::kPrefixBytes < size) {
      throw Error(ErrorKind::failed, file.path() + ": the record at byte " + std::to_string(at) + ", of " +
                                         std::to_string(size) + " bytes, is cut off");
    }
    at += dataflow::kPrefixBytes + size;
  }
  return at;
}

std::uint32_t columns_of(const std::string& path, std::uint64_t size, const InputOptions& options,
                         const dataflow::OpenInput& open) {
  dataflow::RecordReader reader({.path = path, .begin = 0, .end = size, .file_size = size}, options, open);
  std::string_view record;
  CsvRow row(options.separator);
  try {
    if (reader.next(record)) row.parse(record);
  } catch (const Error& error) {
    throw Error(ErrorKind::failed, "the first row of " + path + " cannot be read: " + error.text());
  }
  return static_cast<std::uint32_t>(row.size());
}

constexpr std::uint64_t kSampleBytes = std::uint64_t{1} << 15;
constexpr std::uint64_t kSamples = 256;
constexpr std::size_t kSplitsOfASample = 32;  // in a task

// Lines can be found at any place of a file. None is in two samples, however long it is.
void sample_lines(const std::string& path, const dataflow::OpenInput& open, std::uint64_t distance,
                  std::vector<InputSplit>& out) {
  dataflow::FileWindow file(path, open);
  std::uint64_t end = 0;
  for (std::uint64_t at = 0; at < file.size(); at += distance) {
    if (at + distance <= end) continue;
    const std::uint64_t begin = at == 0 ? 0 : after_line_end(file, std::max(at, end - 1));
    if (begin >= file.size()) return;
    const std::uint64_t target = std::min(begin + kSampleBytes, file.size());
    end = after_line_end(file, target - 1);
    out.push_back({.path = path, .begin = begin, .end = end, .file_size = file.size(), .file = file.identity()});
  }
}

void sample_others(const std::string& path, InputOptions options, const dataflow::OpenInput& open,
                   std::uint64_t distance, std::vector<InputSplit>& out) {
  options.split_bytes = kSampleBytes;
  std::uint64_t next = 0;
  for (InputSplit& one : split_file(path, options, open)) {
    if (one.begin < next) continue;
    next = one.begin + distance;
    out.push_back(std::move(one));
  }
}

}  // namespace

constexpr const char* kResult = "part-stage-1-000-1-1";  // the name of a result, as sinks make them

std::string input_around(const std::vector<std::string>& paths, const fs::path& directory) {
  for (const std::string& path : paths) {
    std::set<fs::path> there = {resolved(path)};  // also those that links lead to
    std::vector<std::string> patterns;
    std::error_code ignored;
    if (fs::status(path, ignored).type() == fs::file_type::not_found) {
      for (const std::string& one : dataflow::alternatives_of(path)) {
        patterns.push_back(resolved(one).string());
        for (const std::string& match : dataflow::paths_like(one, false, [](const auto&, const auto&) {})) {
          there.insert(resolved(match));
        }
      }
    }
    for (fs::path at = resolved(directory) / kResult; at.has_relative_path(); at = at.parent_path()) {
      const auto is_one = [&](const std::string& pattern) { return dataflow::is_like(at.string(), pattern); };
      if (there.contains(at) || std::any_of(patterns.begin(), patterns.end(), is_one)) return path;
      if (hidden(at)) break;
    }
  }
  return {};
}

void fail_on_unmatched(const std::string& path) {
  throw Error(ErrorKind::failed,
              "no input matches " + path +
                  ": name files, directories or globs; in a list with commas, ? stands for a comma of a name");
}

namespace {

FoundInputs find_readable_inputs(const std::vector<std::string>& paths, LostLink lost_link,
                                 std::vector<UnreadableInput>& unreadable) {
  InputSearch search(lost_link);
  std::vector<std::string> unmatched;
  for (const std::string& path : paths) {
    if (!search.add(path)) unmatched.push_back(path);
  }
  unreadable = search.take_unreadable();
  return {.files = search.files(), .unmatched = std::move(unmatched)};
}

}  // namespace

FoundInputs find_readable_inputs(const std::vector<std::string>& paths, std::vector<UnreadableInput>& unreadable) {
  return find_readable_inputs(paths, LostLink::passed_over, unreadable);
}

FoundInputs find_inputs_here(const std::vector<std::string>& paths) {
  std::vector<UnreadableInput> unreadable;
  FoundInputs out = find_readable_inputs(paths, LostLink::input, unreadable);
  if (!unreadable.empty()) throw Error(ErrorKind::failed, unreadable.front().why);
  return out;
}

std::vector<std::string> find_inputs(const std::vector<std::string>& paths) {
  if (paths.empty()) throw Error(ErrorKind::failed, "no input is given: name files, directories or globs");
  FoundInputs found = find_inputs_here(paths);
  if (!found.unmatched.empty()) fail_on_unmatched(found.unmatched.front());
  return once_each(found.files);
}

std::vector<InputSplit> split_file(const std::string& path, const InputOptions& options,
                                   const dataflow::OpenInput& open) {
  dataflow::FileWindow file(path, open);
  CsvBoundaries rows(file, options.separator);
  std::uint64_t prefixed = 0;
  std::vector<InputSplit> out;
  InputSplit next{.path = path, .begin = 0, .end = 0, .file_size = file.size(), .file = file.identity()};
  if (options.format == InputFormat::csv && file.size() > 0) {
    InputOptions whole = options;
    whole.header = false;
    next.columns = columns_of(path, file.size(), whole, open);
  }
  while (next.begin < file.size()) {
    const std::uint64_t target = std::min(next.begin + std::max<std::uint64_t>(options.split_bytes, 1), file.size());
    switch (options.format) {
      case InputFormat::lines: next.end = target == file.size() ? target : after_line_end(file, target - 1); break;
      case InputFormat::csv: next.end = target == file.size() ? target : rows.after(target - 1); break;
      case InputFormat::length_prefixed: next.end = after_prefixed(file, prefixed, target); break;
    }
    out.push_back(next);
    next.begin = next.end;
  }
  return out;
}

std::vector<InputTask> split_files(const std::vector<std::string>& paths, const InputOptions& options,
                                   const dataflow::OpenInput& open, const AreTogether& together) {
  std::vector<InputTask> out;
  std::uint64_t room = 0;
  for (const std::string& path : paths) {
    for (InputSplit& split : split_file(path, options, open)) {
      const std::uint64_t size = split.end - split.begin;
      if (out.empty() || size > room || !together(out.back().splits.back().path, path)) {
        out.emplace_back();
        room = std::max(options.split_bytes, size);
      }
      room -= size;
      out.back().splits.push_back(std::move(split));
    }
  }
  return out;
}

std::vector<InputTask> split_inputs(const InputOptions& options) {
  const auto together = [](const std::string&, const std::string&) { return true; };
  return split_files(find_inputs(options.paths), options, dataflow::open_here, together);
}

std::vector<InputTask> sample_files(const std::vector<std::string>& paths, const InputOptions& options,
                                    const dataflow::OpenInput& open) {
  std::uint64_t total = 0;
  for (const std::string& path : paths) total += open(path)->size();
  const std::uint64_t distance = std::max(total / kSamples, kSampleBytes);
  std::vector<InputSplit> splits;
  for (const std::string& path : paths) {
    if (options.format == InputFormat::lines) {
      sample_lines(path, open, distance, splits);
    } else {
      sample_others(path, options, open, distance, splits);
    }
  }
  std::vector<InputTask> out;
  for (InputSplit& split : splits) {
    if (out.empty() || out.back().splits.size() == kSplitsOfASample) out.emplace_back();
    out.back().splits.push_back(std::move(split));
  }
  return out;
}

std::vector<InputTask> sample_inputs(const InputOptions& options) {
  return sample_files(find_inputs(options.paths), options, dataflow::open_here);
}

}  // namespace lp
