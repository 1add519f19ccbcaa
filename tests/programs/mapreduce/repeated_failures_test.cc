// Failures of functions that may pass: the task is tried again.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "programs/mapreduce/map_reduce.h"
#include "tests/programs/mapreduce/map_reduce_run.h"

namespace lp {
namespace {

// The system fails three times in a row.
struct HasASystemThatFails : test::CountWords {
  void map(std::string_view line, Emit<std::string_view, std::uint64_t>& emit) const {
    fail(*maps);
    CountWords::map(line, emit);
  }
  void reduce(std::string_view word, Values<std::uint64_t>& counts, Output& out) const {
    fail(*reduces);
    for (const std::uint64_t one : counts) out.line(word, '\t', one);
  }
  static void fail(std::atomic<int>& calls) {
    if (++calls <= 3) throw std::system_error(std::make_error_code(std::errc::io_error), "a table");
  }
  std::atomic<int>* maps = nullptr;
  std::atomic<int>* reduces = nullptr;
};

TEST(MapReduceRepeatedFailuresTest, AFailureOfTheSystemMayPass) {
  test::MapReduceFiles files;
  files.write("lines", "one\n");
  std::atomic<int> maps = 0;
  std::atomic<int> reduces = 0;
  const test::MapReduceEnd end = test::run_map_reduce(HasASystemThatFails{{}, &maps, &reduces}, files.options());
  ASSERT_EQ(end.failure, "");
  EXPECT_EQ(end.result.failures, 6U);
  EXPECT_EQ(files.result(), "one\t1\n");
}

}  // namespace
}  // namespace lp
