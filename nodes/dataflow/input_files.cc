#include "nodes/dataflow/input_files.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "lp/base/error.h"
#include "nodes/dataflow/csv_row.h"
#include "nodes/dataflow/file_window.h"
#include "nodes/dataflow/record_reader.h"

namespace lp {
namespace {

namespace fs = std::filesystem;

bool hidden(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name.starts_with('_');
}

void add_directory(const fs::path& directory, std::set<std::string>& out) {
  for (fs::recursive_directory_iterator at(directory), end; at != end; ++at) {
    if (hidden(at->path())) {
      at.disable_recursion_pending();
    } else if (at->is_regular_file()) {
      out.insert(at->path().string());
    }
  }
}

void add_path(const std::string& path, std::set<std::string>& out) {
  if (fs::is_directory(path)) {
    add_directory(path, out);
  } else if (fs::exists(path) && !fs::is_regular_file(path)) {
    throw Error(ErrorKind::failed, path + " is no regular file: name files, directories or globs");
  } else {
    out.insert(path);
  }
}

// Returns false when nothing matches.
bool add_glob(const std::string& pattern, std::set<std::string>& out) {
  ::glob_t found{};
  const int failed = ::glob(pattern.c_str(), GLOB_BRACE, nullptr, &found);
  for (std::size_t i = 0; failed == 0 && i < found.gl_pathc; ++i) add_path(found.gl_pathv[i], out);
  ::globfree(&found);
  return failed == 0;
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
  explicit CsvBoundaries(dataflow::FileWindow& file) : file_(file) {}

  // The offset after the first row that ends at `target` or behind it, which grows from call to call.
  std::uint64_t after(std::uint64_t target) {
    while (at_ < target) {
      const std::string_view bytes = file_.at(at_).substr(0, target - at_);
      if (bytes.empty()) return file_.size();
      quotes_ += static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '"'));
      at_ += bytes.size();
    }
    for (std::string_view bytes = file_.at(at_); !bytes.empty(); bytes = file_.at(at_)) {
      for (const char c : bytes) {
        ++at_;
        if (c == '"') ++quotes_;
        if (c == '\n' && quotes_ % 2 == 0) return at_;
      }
    }
    return file_.size();
  }

 private:
  dataflow::FileWindow& file_;
  std::uint64_t at_ = 0;
  std::uint64_t quotes_ = 0;  // before at_
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

// Lines can be found at any place of a file.
void sample_lines(const std::string& path, const dataflow::OpenInput& open, std::uint64_t distance,
                  std::vector<InputSplit>& out) {
  dataflow::FileWindow file(path, open);
  for (std::uint64_t at = 0; at < file.size(); at += distance) {
    const std::uint64_t begin = at == 0 ? 0 : after_line_end(file, at);
    if (begin >= file.size()) return;
    const std::uint64_t target = std::min(begin + kSampleBytes, file.size());
    const std::uint64_t end = after_line_end(file, target - 1);
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

void fail_on_unmatched(const std::string& path) {
  throw Error(ErrorKind::failed, "no input matches " + path + ": name files, directories or globs");
}

FoundInputs find_inputs_here(const std::vector<std::string>& paths) {
  std::set<std::string> out;
  std::vector<std::string> unmatched;
  try {
    for (const std::string& path : paths) {
      if (fs::exists(path)) {
        add_path(path, out);
      } else if (!add_glob(path, out)) {
        unmatched.push_back(path);
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorKind::failed,
                "an input cannot be read: " + error.path1().string() + ": " + error.code().message());
  }
  return {.files = {out.begin(), out.end()}, .unmatched = std::move(unmatched)};
}

std::vector<std::string> find_inputs(const std::vector<std::string>& paths) {
  if (paths.empty()) throw Error(ErrorKind::failed, "no input is given: name files, directories or globs");
  FoundInputs found = find_inputs_here(paths);
  if (!found.unmatched.empty()) fail_on_unmatched(found.unmatched.front());
  return std::move(found.files);
}

std::vector<InputSplit> split_file(const std::string& path, const InputOptions& options,
                                   const dataflow::OpenInput& open) {
  dataflow::FileWindow file(path, open);
  CsvBoundaries rows(file);
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
