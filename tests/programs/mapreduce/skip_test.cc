// A map-reduce that leaves many bad records and keys out.

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "programs/mapreduce/map_reduce.h"
#include "tests/programs/mapreduce/map_reduce_run.h"

namespace lp {
namespace {

// Map fails on lines with a zero, reduce on words with a nine. After a failure an object of the class is spoiled.
struct FailsOften {
  void map(std::string_view line, Emit<std::string_view, std::uint64_t>& emit) {
    fail_if(line.find('0') != std::string_view::npos);
    emit(line, 1);
  }
  void reduce(std::string_view word, Values<std::uint64_t>&, Output& out) {
    out.write("<");
    fail_if(word.find('9') != std::string_view::npos);
    out.line(word, ">");
  }

 private:
  void fail_if(bool bad) {
    if (spoiled_) throw std::logic_error("this object has failed before");
    spoiled_ = bad;
    if (bad) throw std::invalid_argument("a bad digit");
  }
  bool spoiled_ = false;
};

TEST(MapReduceSkipTest, ManyBadRecordsAndKeysCostOneMoreAttemptOfEachTask) {
  test::MapReduceFiles files;
  constexpr int kLines = 20'000;
  std::string text, expected;
  std::uint64_t bad = 0;
  for (int i = 10'000; i < 10'000 + kLines; ++i) {
    const std::string line = std::to_string(i);
    text += line + "\n";
    if (line.find_first_of("09") == std::string::npos) {
      expected += "<" + line + ">\n";
    } else {
      ++bad;
    }
  }
  files.write("lines", text);
  MapReduce options = files.options();
  options.job.partitions = 1;
  options.job.skip_records = bad;
  const test::MapReduceEnd end = test::run_map_reduce(FailsOften(), options);
  ASSERT_EQ(end.failure, "");
  EXPECT_EQ(end.result.counters.skipped, bad);
  EXPECT_EQ(end.result.failures, end.result.map_tasks + end.result.reduce_tasks);
  EXPECT_EQ(files.result(), expected);
}

}  // namespace
}  // namespace lp
