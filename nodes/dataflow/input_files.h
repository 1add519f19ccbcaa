#pragma once
// The input of a dataflow program: files, and how they are split into tasks on the boundaries of records. Splits are
// exact: every record lies in one split, whole. So a reader of a split knows nothing of its neighbours.
//
// Values; pure functions of the files. Functions throw Error::failed that names the file.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nodes/dataflow/input_source.h"

namespace lp {

enum class InputFormat : std::uint8_t {
  lines,            // end with '\n'; the last one of a file may lack it
  csv,              // RFC 4180: a field in quotes may contain separators, line ends, and quotes, which are doubled
  length_prefixed,  // a little-endian 32-bit length, then so many bytes
};

struct InputOptions {
  // Files, directories and globs; a path that is there is no glob. A directory means all files in it and below, except
  // those whose names begin with '.' or '_'.
  std::vector<std::string> paths{};
  InputFormat format = InputFormat::lines;
  char separator = ',';  // csv: between fields
  bool header = true;    // csv: the first row of a file names its columns, and is no record
  std::uint64_t split_bytes = std::uint64_t{64} << 20;  // size of a task; it is longer by the rest of its last record
  std::uint64_t longest_record = std::uint64_t{64} << 20;            // bytes; a longer one is a bad record
  std::string longest_record_name = "InputOptions::longest_record";  // what its user raises: for messages
};

// The records of a file in [begin, end).
struct InputSplit {
  std::string path{};
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_size = 0;    // when it was split; a reader refuses a file that has shrunk since
  std::uint32_t columns = 0;      // csv: of the first row of the file
  dataflow::FileIdentity file{};  // when it was split; a reader refuses another one
};

// The input of one task: a part of a large file, or several small files.
struct InputTask {
  std::vector<InputSplit> splits{};
};

// The files on a host, by path, each path once.
struct FoundInputs {
  std::vector<std::string> files{};
  std::vector<std::string> unmatched{};  // paths that name nothing there
};
// A path that can be no input, or cannot be looked at.
struct UnreadableInput {
  std::string path{};
  std::string why{};  // a sentence that names it
};
FoundInputs find_readable_inputs(const std::vector<std::string>& paths, std::vector<UnreadableInput>& unreadable);
// Error::failed when there is something that cannot be read.
FoundInputs find_inputs_here(const std::vector<std::string>& paths);
// The files, for a stream. One with several names, links to it for instance, is there once: under the first of them.
// Error::failed for a path that names nothing.
std::vector<std::string> find_inputs(const std::vector<std::string>& paths);
[[noreturn]] void fail_on_unmatched(const std::string& path);
// Returns the first of these paths to which files in the directory would belong; empty: none. It need not exist.
std::string input_around(const std::vector<std::string>& paths, const std::filesystem::path& directory);

// Empty files have no split. CSV and length-prefixed files are read once, since nothing shorter shows where their
// records begin.
std::vector<InputSplit> split_file(const std::string& path, const InputOptions& options,
                                   const dataflow::OpenInput& open = dataflow::open_here);

// Tasks of about split_bytes, in the order of the files. A task has parts of several files only if they are together.
using AreTogether = std::function<bool(const std::string& one, const std::string& other)>;
std::vector<InputTask> split_files(const std::vector<std::string>& paths, const InputOptions& options,
                                   const dataflow::OpenInput& open, const AreTogether& together);
std::vector<InputTask> split_inputs(const InputOptions& options);  // files here

// Short splits from all over the files, whose records stand for all records, in a few tasks. For the bounds of ranges.
std::vector<InputTask> sample_files(const std::vector<std::string>& paths, const InputOptions& options,
                                    const dataflow::OpenInput& open);
std::vector<InputTask> sample_inputs(const InputOptions& options);  // files here

}  // namespace lp
