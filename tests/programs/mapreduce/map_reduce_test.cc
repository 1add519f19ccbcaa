// Map-reduces as graphs: their results against a serial reference, and what the master reports.
#include "programs/mapreduce/map_reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "tests/programs/mapreduce/map_reduce_run.h"

namespace lp {
namespace {

using test::MapReduceEnd;
using test::MapReduceFiles;
using test::run_map_reduce;

std::string random_text(std::size_t words, std::uint64_t seed) {
  Random random(seed, "text", 0);
  std::string out;
  for (std::size_t i = 0; i < words; ++i) {
    out += "w" + std::to_string(random.below(random.below(2000) + 1)) + (random.below(8) == 0 ? "\n" : " ");
  }
  return out;
}

TEST(MapReduceTest, CountsWordsWithAnyWorkersSplitsAndPartitions) {
  MapReduceFiles files;
  std::string text;
  for (int i = 0; i < 5; ++i) {
    const std::string one = random_text(3000, static_cast<std::uint64_t>(i));
    text += one + " ";
    files.write("part" + std::to_string(i), one);
  }
  std::string first;
  for (const int workers : {1, 2, 4}) {
    for (const std::uint64_t split : {1000U, 10'000U, 10'000'000U}) {
      MapReduce options = files.options();
      options.workers = workers;
      options.job.input.split_bytes = split;
      const MapReduceEnd end = run_map_reduce(test::CountWords(), options, workers == 2);
      ASSERT_EQ(end.failure, "");
      const std::string result = files.result();
      if (first.empty()) first = result;
      EXPECT_EQ(result, first) << workers << " workers, splits of " << split;
      EXPECT_EQ(end.result.counters.pairs, 15'000U);
      EXPECT_EQ(end.result.reduce_tasks, 4U);
      EXPECT_TRUE(files.clean());
      std::filesystem::remove_all(files.output());
    }
  }
  EXPECT_EQ(test::table_of(first), test::counts_of(text));
}

TEST(MapReduceTest, SortsByRangesOfASample) {
  MapReduceFiles files;
  std::vector<std::string> lines;
  std::string text;
  Random random(3, "lines", 0);
  for (int i = 0; i < 50'000; ++i) {
    lines.push_back(std::to_string(random.below(40'000)) + std::string(random.below(20), 'x'));
    text += lines.back() + "\n";
  }
  files.write("lines", text);
  MapReduce options = files.options();
  options.job.partitioning = Partitioning::range;
  options.job.partitions = 5;
  options.job.input.split_bytes = 100'000;
  const MapReduceEnd end = run_map_reduce(test::SortLines(), options);
  ASSERT_EQ(end.failure, "");
  std::sort(lines.begin(), lines.end());
  std::string expected;
  for (const std::string& line : lines) expected += line + "\n";
  EXPECT_EQ(files.result(), expected);
  std::uintmax_t largest = 0;
  for (const auto& part : std::filesystem::directory_iterator(files.output())) {
    largest = std::max(largest, part.file_size());
  }
  EXPECT_LT(largest, expected.size() / 3);  // a fifth, about
}

struct SumByLength {
  void map(std::string_view line, Emit<std::int64_t, double>& emit) const {
    emit(-static_cast<std::int64_t>(line.size()), factor);
    emit.count("lines");
  }
  static void reduce(std::int64_t length, Values<double>& values, Output& out) {
    double sum = 0;
    for (const double one : values) sum += one;
    out.line(length, ' ', sum);
    out.count("lengths");
  }
  double factor = 0.5;
};

TEST(MapReduceTest, KeysMayBeNumbersAndJobsHaveStateAndCounters) {
  MapReduceFiles files;
  files.write("lines", "aaa\nb\n\ncc\nd\n");
  MapReduce options = files.options();
  options.job.partitions = 1;
  const MapReduceEnd end = run_map_reduce(SumByLength{.factor = 2.5}, options);
  ASSERT_EQ(end.failure, "");
  EXPECT_EQ(files.result(), "-3 2.5\n-2 2.5\n-1 5\n0 2.5\n");
  EXPECT_EQ(end.result.counters.counts.at("lines"), 5U);
  EXPECT_EQ(end.result.counters.counts.at("lengths"), 4U);
  EXPECT_EQ(end.result.counters.input_records, 5U);
  EXPECT_EQ(end.result.counters.input_bytes, 12U);
}

TEST(MapReduceTest, EmptyFilesMakeAnEmptyOutput) {
  MapReduceFiles files;
  files.write("empty", "");
  files.write("also", "");
  for (const Partitioning partitioning : {Partitioning::hash, Partitioning::range}) {
    MapReduce options = files.options();
    options.job.partitioning = partitioning;
    const MapReduceEnd end = run_map_reduce(test::CountWords(), options);
    ASSERT_EQ(end.failure, "");
    EXPECT_EQ(files.result(), "");
    EXPECT_EQ(end.result.map_tasks, 0U);
    std::filesystem::remove_all(files.output());
  }
}

struct Everything {  // one key, no combiner
  static void map(std::string_view line, Emit<std::string_view, std::string_view>& emit) {
    emit(line.size() % 4 == 0 ? "rare" : "the same", line);
  }
  static void reduce(std::string_view key, Values<std::string_view>& lines, Output& out) {
    std::uint64_t count = 0;
    for ([[maybe_unused]] const std::string_view line : lines) ++count;
    out.line(key, '\t', count);
  }
};

TEST(MapReduceTest, AKeyWithHalfOfAllPairsIsReported) {
  MapReduceFiles files;
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::string(static_cast<std::size_t>(i % 4 + 1), 'x') + "\n";
  files.write("lines", text);
  const MapReduceEnd end = run_map_reduce(Everything(), files.options());
  ASSERT_EQ(end.failure, "");
  EXPECT_EQ(end.result.skew.substr(0, end.result.skew.find(',')),
            "the key \"the same\" has 75% of the 2000 pairs that were shuffled");
  files.write("more", "");
  std::filesystem::remove_all(files.output());
  EXPECT_EQ(run_map_reduce(test::CountWords(), files.options()).result.skew, "");
}

TEST(MapReduceTest, MoreThanTheMemoryIsSpilledAndMerged) {
  MapReduceFiles files;
  std::string text;
  std::vector<std::string> lines;
  for (int i = 0; i < 200'000; ++i) {
    lines.push_back(std::to_string((i * 7919) % 200'000) + std::string(90, '-'));
    text += lines.back() + "\n";
  }
  files.write("lines", text);
  MapReduce options = files.options();
  options.job.partitioning = Partitioning::range;
  options.job.memory = MapReduceOptions::kLeastMemory;
  const MapReduceEnd end = run_map_reduce(test::SortLines(), options);
  ASSERT_EQ(end.failure, "");
  EXPECT_GT(end.result.counters.runs, 2U);
  EXPECT_EQ(end.result.map_tasks, 1U);
  std::sort(lines.begin(), lines.end());
  std::string expected;
  for (const std::string& line : lines) expected += line + "\n";
  EXPECT_TRUE(files.result() == expected);
}

TEST(MapReduceTest, OptionsThatDoNotFitAreRefused) {
  MapReduceFiles files;
  const auto refusal = [&](const auto& change) {
    MapReduce options = files.options();
    change(options.job);
    Program program("test");
    try {
      add_map_reduce(program, test::CountWords(), options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal([](MapReduceOptions& job) { job.input.paths.clear(); }).find("needs input"), std::string::npos);
  EXPECT_NE(refusal([](MapReduceOptions& job) { job.output.clear(); }).find("an output directory"), std::string::npos);
  const std::string within = refusal([](MapReduceOptions& job) { job.output = job.input.paths[0] + "/output"; });
  EXPECT_NE(within.find("would be input of the next job that reads " + files.input().string()), std::string::npos);
  EXPECT_EQ(refusal([](MapReduceOptions& job) { job.output = job.input.paths[0] + "/_output"; }), "");
  EXPECT_NE(refusal([](MapReduceOptions& job) { job.memory = 1 << 20; }).find("not 1"), std::string::npos);
  EXPECT_NE(refusal([](MapReduceOptions& job) { job.input.format = InputFormat::csv; }).find("takes rows"),
            std::string::npos);
}

}  // namespace
}  // namespace lp
