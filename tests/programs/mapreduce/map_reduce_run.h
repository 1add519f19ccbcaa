#pragma once
// A map-reduce that runs in this process, on files in a directory of its own. For tests; one thread.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "programs/mapreduce/map_reduce.h"
#include "tests/job_files.h"
#include "tests/lp/program/local_run.h"

namespace lp::test {

struct CountWords {
  static void map(std::string_view line, Emit<std::string_view, std::uint64_t>& emit) {
    for (const std::string_view word : words(line)) emit(word, 1);
  }
  static void combine(std::uint64_t& sum, std::uint64_t one) { sum += one; }
};

struct SortLines {
  static void map(std::string_view line, Emit<std::string_view, Nothing>& emit) { emit(line, {}); }
  static void reduce(std::string_view line, Values<Nothing>& times, Output& out) {
    for ([[maybe_unused]] const Nothing once : times) out.line(line);
  }
};

class MapReduceFiles : public JobFiles {
 public:
  // A job on all files that were written, into output().
  MapReduce options() const {
    MapReduce out;
    out.job.input.paths = {input().string()};
    out.job.output = output();
    return out;
  }
  // The parts of the output, one after the other.
  std::string result() const {
    std::set<std::filesystem::path> parts;
    for (const auto& one : std::filesystem::directory_iterator(output())) {
      if (one.path().filename() != ".run") parts.insert(one.path());
    }
    std::string out;
    for (const auto& part : parts) {
      std::ifstream file(part, std::ios::binary);
      out.append(std::istreambuf_iterator<char>(file), {});
    }
    return out;
  }
  // Whether nothing of a run is left except its output, and that only if it has one.
  bool clean() const {
    return !std::filesystem::exists(output().string() + ".partial") &&
           !std::filesystem::exists(output().string() + ".partial-removed");
  }
};

struct MapReduceEnd {
  MapReduceResult result{};
  std::string failure{};  // that the master ends with
};

template <class Job>
MapReduceEnd run_map_reduce(const Job& job, const MapReduce& options, bool serialize = false) {
  Program program("test");
  const auto master = add_map_reduce(program, job, options);
  Runtime::Options runtime;
  runtime.run.serialize = serialize;
  LocalRun run(program, std::move(runtime));
  run.wait_finished();
  for (const auto& [node, error] : run.failed()) return {.failure = node + ": " + error.what()};
  return {.result = run.client(master).template call<&MapReduceMaster::result>()};
}

inline std::map<std::string, std::uint64_t> counts_of(const std::string& text) {
  std::map<std::string, std::uint64_t> out;
  std::istringstream words(text);
  for (std::string word; words >> word;) ++out[word];
  return out;
}

// Lines of KEY TAB NUMBER.
inline std::map<std::string, std::uint64_t> table_of(const std::string& lines) {
  std::map<std::string, std::uint64_t> out;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    const std::size_t tabulator = line.rfind('\t');
    EXPECT_TRUE(out.emplace(line.substr(0, tabulator), std::stoull(line.substr(tabulator + 1))).second) << line;
  }
  return out;
}

}  // namespace lp::test
