#pragma once
// Input files of tests. Pure functions of the directory; one thread.

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "nodes/dataflow/record_reader.h"

namespace lp::test {

inline std::string write(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

inline std::string prefixed(const std::vector<std::string>& records) {
  std::string out;
  for (const std::string& one : records) {
    const auto size = static_cast<std::uint32_t>(one.size());
    out.append(reinterpret_cast<const char*>(&size), sizeof(size));
    out += one;
  }
  return out;
}

// All records of the tasks that the options make, in order.
inline std::vector<std::string> all_records(const InputOptions& options) {
  std::vector<std::string> out;
  for (const InputTask& task : split_inputs(options)) {
    for (const InputSplit& split : task.splits) {
      dataflow::RecordReader reader(split, options);
      for (std::string_view record; reader.next(record);) out.emplace_back(record);
    }
  }
  return out;
}

}  // namespace lp::test
