// A map-reduce that the program itself stops: its unfinished output goes, and a resumed run makes it again.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "launchers/run.h"
#include "lp/base/scheduler.h"
#include "lp/program/scratch.h"
#include "programs/mapreduce/map_reduce.h"
#include "tests/programs/mapreduce/map_reduce_run.h"

namespace lp {
namespace {

using test::MapReduceFiles;

struct FailsForNow : test::CountWords {
  void map(std::string_view line, Emit<std::string_view, std::uint64_t>& emit) const {
    CountWords::map(line, emit);
    begun->set();
    if (*fails) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
  lp::Event* begun = nullptr;
  const bool* fails = nullptr;
};

MapReduce tried_for_ever(const MapReduceFiles& files) {
  MapReduce options = files.options();
  options.job.attempts = std::numeric_limits<std::uint32_t>::max();
  return options;
}

// Runs it until it maps, and there is a cut if the run has a directory. Then it stops it.
void stop_in_map(const MapReduceFiles& files, LaunchOptions launch) {
  lp::Event begun;
  const bool fails = true;
  Program program("test");
  add_map_reduce(program, FailsForNow{{}, &begun, &fails}, tried_for_ever(files));
  const bool takes_cuts = !launch.directory.empty();
  lp::Run run(std::move(program), std::move(launch));
  const Time end = after(std::chrono::seconds(20));
  EXPECT_TRUE(begun.wait(end));
  lp::Event never;
  while (takes_cuts && run.status().cut == 0 && now() < end) never.wait(after(std::chrono::milliseconds(5)));
  run.stop("enough");
  run.wait();
}

TEST(StoppedMapReduceTest, LeavesNothing) {
  MapReduceFiles files;
  files.write("lines", "one two\n");
  stop_in_map(files, {});
  EXPECT_TRUE(files.clean());
  EXPECT_FALSE(std::filesystem::exists(files.output()));
}

TEST(StoppedMapReduceTest, ARunThatResumesAStoppedOneMakesTheOutput) {
  MapReduceFiles files;
  files.write("lines", "one two\n");
  const std::filesystem::path second = files.path() / "second";
  stop_in_map(files, {.name = "stopped", .directory = second});
  lp::Event begun;
  const bool fails = false;
  Program program("test");
  add_map_reduce(program, FailsForNow{{}, &begun, &fails}, tried_for_ever(files));
  const std::filesystem::path resumed = files.path() / "resumed";
  lp::Run run(std::move(program), {.name = "resumed", .directory = resumed, .resume = second});
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
  EXPECT_EQ(test::table_of(files.result()), (std::map<std::string, std::uint64_t>{{"one", 1}, {"two", 1}}));
  EXPECT_TRUE(files.clean());
  remove_scratch(second, ScratchLife::cuts);
  EXPECT_EQ(test::table_of(files.result()), (std::map<std::string, std::uint64_t>{{"one", 1}, {"two", 1}}));
}

}  // namespace
}  // namespace lp
