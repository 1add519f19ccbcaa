// Map-reduces whose functions end or stop their process.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "launchers/run.h"
#include "lp/base/file.h"
#include "programs/mapreduce/map_reduce.h"
#include "tests/launchers/tools_for_test.h"
#include "tests/programs/mapreduce/jobs_for_test.h"
#include "tests/programs/mapreduce/map_reduce_run.h"

namespace lp::test {
namespace {

struct JobEnd {
  RunResult run{};
  MapReduceResult result{};
  Duration time{};
};

JobEnd run_job(const MapReduceFiles& files, const std::string& mode, std::uint64_t skip_records, int restarts = 3,
               const std::filesystem::path& directory = {}) {
  const JobConfig config{
      .folder = files.path().string(), .mode = mode, .skip_records = skip_records, .restarts = restarts};
  JobEnd end;
  LaunchOptions options = processes(config, "job");
  options.directory = directory;
  options.report = [&end](lp::Run& run) {
    end.result = run.client(Handle<MapReduceMaster>("master")).call<&MapReduceMaster::result>();
  };
  const Time begin = now();
  lp::Run run(make_job(config), options);
  end.run = run.wait();
  end.time = now() - begin;
  return end;
}

TEST(MapReduceProcessesTest, ARecordOnWhichProcessesEndIsSkipped) {
  for (const std::string mode : {"segfaults", "aborts", "exits"}) {
    MapReduceFiles files;
    files.write("lines", mode == "segfaults" ? "bad\none two\nbad\nthree\n" : "one two\nbad\nthree\n");
    const JobEnd end = run_job(files, mode, 3);
    ASSERT_TRUE(end.run.success) << end.run.cause.text();
    EXPECT_EQ(table_of(files.result()), (std::map<std::string, std::uint64_t>{{"one", 1}, {"two", 1}, {"three", 1}}));
    EXPECT_EQ(end.result.counters.skipped, mode == "segfaults" ? 2U : 1U);
    EXPECT_TRUE(files.clean());
  }
}

TEST(MapReduceProcessesTest, WithoutSkippingARecordOnWhichProcessesEndIsNamed) {
  MapReduceFiles files;
  const std::string path = files.write("lines", "one two\nbad\nthree\n");
  const JobEnd end = run_job(files, "segfaults", 0);
  EXPECT_EQ(end.run.cause.node, "master");
  EXPECT_NE(end.run.cause.what.find(" ended in map, on the record at byte 8 of " + path + ", as did one before it"),
            std::string::npos)
      << end.run.cause.text();
  EXPECT_TRUE(files.clean());
}

TEST(MapReduceProcessesTest, AFunctionThatThrowsAgainFailsTheJobAtOnce) {
  MapReduceFiles files;
  const std::string path = files.write("lines", "one two\nbad\nthree\n");
  std::string text = run_job(files, "throws", 0).run.cause.text();
  EXPECT_NE(text.find(": map failed on the record at byte 8 of " + path), std::string::npos) << text;
  EXPECT_NE(text.find("a task failed twice in worker/"), std::string::npos) << text;
  text = run_job(files, "reduce throws", 0).run.cause.text();
  EXPECT_NE(text.find(": reduce failed on the key \"bad\": std::invalid_argument: no such word"), std::string::npos)
      << text;
  EXPECT_NE(text.find("a task failed twice in worker/"), std::string::npos) << text;
  EXPECT_TRUE(files.clean());
}

TEST(MapReduceProcessesTest, WithoutRestartsTheReportOfAnEndNamesTheRecord) {
  MapReduceFiles files;
  const std::string path = files.write("lines", "one two\nbad\nthree\n");
  std::string text = run_job(files, "aborts", 0, 0).run.cause.text();
  EXPECT_NE(text.find("in map, on the record at byte 8 of " + path), std::string::npos) << text;
#if !defined(LP_SANITIZED)  // a sanitizer handles this signal itself
  text = run_job(files, "segfaults", 0, 0).run.cause.text();
  EXPECT_NE(text.find("in map, on the record at byte 8 of " + path), std::string::npos) << text;
#endif
  text = run_job(files, "exits in order", 0, 0).run.cause.text();
  EXPECT_NE(text.find("in map, on the record at byte 8 of " + path), std::string::npos) << text;
  text = run_job(files, "reduce aborts", 0, 0).run.cause.text();
  EXPECT_NE(text.find("in reduce, on the key bad"), std::string::npos) << text;
}

// The process cannot write anything then; the master's log has it.
TEST(MapReduceProcessesTest, WithoutRestartsTheMasterNamesTheRecordOfAnEndWithoutAWord) {
  MapReduceFiles files;
  const std::string path = files.write("lines", "one two\nbad\nthree\n");
  EXPECT_FALSE(run_job(files, "exits", 0, 0, files.path() / "run").run.success);
  std::string log;
  for (const auto& one : std::filesystem::recursive_directory_iterator(files.path() / "run")) {
    if (one.path().extension() == ".log") log += read_text(one.path(), 1 << 20);
  }
  EXPECT_NE(log.find(" ended in map, on the record at byte 8 of " + path), std::string::npos) << log;
}

TEST(MapReduceProcessesTest, AKeyOnWhichProcessesEndIsSkippedOrNamed) {
  MapReduceFiles files;
  files.write("lines", "one bad two");
  EXPECT_NE(run_job(files, "reduce aborts", 0).run.cause.what.find(" ended in reduce, on the key \"bad\", as did one"),
            std::string::npos);
  const JobEnd end = run_job(files, "reduce aborts", 1);
  ASSERT_TRUE(end.run.success) << end.run.cause.text();
  EXPECT_EQ(table_of(files.result()), (std::map<std::string, std::uint64_t>{{"one", 1}, {"two", 1}}));
  EXPECT_EQ(end.result.counters.skipped, 1U);
}

TEST(MapReduceProcessesTest, AStoppedWorkerDelaysNoResultAndNoEnd) {
  MapReduceFiles files;
  files.write("a", "bad\n");
  for (int i = 0; i < 5; ++i) files.write("b" + std::to_string(i), "good\n");
  const JobEnd end = run_job(files, "stops once", 0);
  ASSERT_TRUE(end.run.success) << end.run.cause.text();
  EXPECT_EQ(table_of(files.result()), (std::map<std::string, std::uint64_t>{{"bad", 1}, {"good", 5}}));
  EXPECT_GE(end.result.backups, 1U);
  EXPECT_LT(end.time, std::chrono::seconds(9));  // less than the grace period, after which it would be killed
}

TEST(MapReduceProcessesTest, AJobThatFailsForGoodEndsOnce) {
  MapReduceFiles files;
  files.write("lines", "one\n");
  std::filesystem::create_directories(files.output());
  const JobEnd end = run_job(files, "", 0);
  EXPECT_EQ(end.run.cause.node, "master");
  EXPECT_EQ(end.run.cause.incarnation, 1U);
  EXPECT_EQ(end.run.cause.what.find("the output " + files.output().string() + " exists"), 0U) << end.run.cause.text();
}

}  // namespace
}  // namespace lp::test
