// Programs whose nodes are threads of this process.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "launchers/test_run.h"
#include "lp/base/error.h"
#include "tests/directory.h"
#include "tests/launchers/programs_for_test.h"
#include "tests/launchers/record/event_records.h"

namespace lp::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Handle<Counter> kThreadCounter("counter");

TEST(ThreadRun, EndsWithSuccessWhenItsWorkersHaveFinished) {
  int total = 0;
  LaunchOptions options;
  options.report = [&](lp::Run& run) { total = run.client(kThreadCounter).call<&Counter::total>(); };
  lp::Run run(make_counting({.workers = 3, .steps = 7}), options);
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
  EXPECT_EQ(total, 21);
  EXPECT_EQ(run.status().phase, Phase::ended);
  EXPECT_EQ(run.status().nodes[1].step, 7u);
}

TEST(ThreadRun, AnExceptionStopsTheProgramAndIsTheCause) {
  lp::Run run(make_counting({.mode = "throws"}), {});
  EXPECT_EQ(run.wait().exit_code(), 1);
  EXPECT_EQ(run.wait().cause.text(), "worker/1: std::runtime_error: no data here");
}

TEST(ThreadRun, AConstructorThatThrowsIsTheCause) {
  lp::Run run(make_counting({.mode = "constructor throws"}), {});
  EXPECT_EQ(run.wait().cause.text(), "worker/1: std::invalid_argument: no such model");
}

TEST(ThreadRun, AFailedNodeIsStartedAgain) {
  lp::Run run(make_counting({.mode = "throws once", .restart = true}), {});
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
  EXPECT_EQ(run.status().nodes[2].restarts, 1);
}

TEST(ThreadRun, AnIgnoredFailureLetsTheOthersFinish) {
  lp::Run run(make_counting({.mode = "throws", .ignore = true}), {});
  EXPECT_TRUE(run.wait().success);
  EXPECT_EQ(run.status().nodes[2].state, NodeStatus::State::failed);
}

TEST(ThreadRun, AStopReachesNodesThatWait) {
  lp::Run run(make_counting({.mode = "waits"}), {});
  ASSERT_TRUE(run.wait_ready(seconds(20)));
  EXPECT_FALSE(run.wait_for(milliseconds(1)));
  run.stop("the test is over");
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
  EXPECT_EQ(run.wait().reason, "the test is over");
}

TEST(ThreadRun, ANodeStopsTheProgram) {
  lp::Run run(make_counting({.mode = "stops the program"}), {});
  EXPECT_TRUE(run.wait().success);
  EXPECT_EQ(run.wait().reason, "worker/1 stopped the program: enough is enough");
}

TEST(ThreadRun, AServiceThatHangsIsFoundAndLeftBehind) {
  LaunchOptions options;
  options.heartbeat = milliseconds(300);
  options.grace = milliseconds(100);
  lp::Run run(make_counting({.mode = "hangs"}), options);
  EXPECT_FALSE(run.wait().success);
  EXPECT_EQ(run.wait().cause.node, "worker/1");
  EXPECT_TRUE(run.wait().cause.hanging);
  const std::string& what = run.wait().cause.what;
  EXPECT_NE(what.find("within the heartbeat of 300 ms; it has been in exclusive(), for "), std::string::npos) << what;
}

TEST(ThreadRun, ANodeThatIgnoresTheStopDoesNotKeepTheProgram) {
  LaunchOptions options;
  options.grace = milliseconds(100);
  lp::Run run(make_counting({.mode = "ignores the stop"}), options);
  ASSERT_TRUE(run.wait_ready(seconds(20)));
  run.stop("enough");
  EXPECT_EQ(run.wait().exit_code(), 1);
  EXPECT_EQ(run.wait().cause.node, "worker/1");
}

TEST(ThreadRun, AReportThatThrowsFailsTheRun) {
  LaunchOptions options;
  options.report = [](lp::Run&) { throw std::runtime_error("nothing learned"); };
  lp::Run run(make_counting({}), options);
  EXPECT_EQ(run.wait().cause.text(), "report: std::runtime_error: nothing learned");
}

TEST(ThreadRun, SeveralRunsShareAProcess) {
  std::vector<std::unique_ptr<lp::Run>> runs;
  for (int i = 0; i < 5; ++i) runs.push_back(std::make_unique<lp::Run>(make_counting({}), LaunchOptions()));
  for (const auto& run : runs) EXPECT_TRUE(run->wait().success);
}

TEST(ThreadRun, MayBeStoppedAndAskedFromAnyThread) {
  lp::Run run(make_counting({.mode = "waits"}), {});
  std::vector<Thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.push_back(spawn("asker", [&run] {
      run.status();
      run.wait();
    }));
  }
  Thread stopper = spawn("stopper", [&run] { run.stop("from another thread"); });
  stopper.join();
  threads.clear();
  EXPECT_TRUE(run.wait().success);
}

TEST(TestLauncher, RunCanBeSwitchedOffAndServicesCalled) {
  for (const bool serialize : {false, true}) {
    LaunchOptions options;
    options.idle = {"worker"};
    options.serialize = serialize;
    TestRun run(make_counting({}), options);
    run.client(kThreadCounter).call<&Counter::add>(5);
    EXPECT_EQ(run.client(kThreadCounter).call<&Counter::total>(), 5);
  }
}

TEST(TestLauncher, SaysWhyAProgramDoesNotStart) {
  try {
    TestRun run(make_counting({.mode = "constructor throws"}));
    FAIL() << "it started";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the program did not start: worker/1: std::invalid_argument: no such model");
  }
}

// Reports five steps and fails, then reports from the third step on.
class Reporter {
 public:
  explicit Reporter(std::atomic<int>& starts) : starts_(starts) {}
  void run(Context& node) {
    const bool first = ++starts_ == 1;
    for (std::uint64_t step = first ? 1 : 3; step <= (first ? 5 : 8); ++step) {
      node.report({.step = step, .values = {{"loss", first ? 0.1 : 0.9}}});
    }
    if (first) throw std::runtime_error("it fails once");
  }
  using Remote = Methods<>;

 private:
  std::atomic<int>& starts_;
};

TEST(ThreadRun, WhatNodesReportIsKeptAsCurvesWithoutTheStepsThatCameAgain) {
  const Directory directory;
  std::atomic<int> starts = 0;
  Program program("reports");
  program.add<Reporter>({.name = "reporter", .on_failure = restart(1), .ends_program = true}, std::ref(starts));
  LaunchOptions options;
  options.directory = directory.path() / "run";
  lp::Run run(std::move(program), options);
  ASSERT_TRUE(run.wait().success) << run.wait().cause.text();
  const EventCurves curves = read_curves(options.directory / "curves" / "reporter");
  ASSERT_EQ(curves.size(), 1U);
  EXPECT_EQ(curves.at("loss"),
            (std::vector<std::pair<std::uint64_t, float>>{
                {1, 0.1F}, {2, 0.1F}, {3, 0.9F}, {4, 0.9F}, {5, 0.9F}, {6, 0.9F}, {7, 0.9F}, {8, 0.9F}}));
  const NodeCurves kept = run.curves("reporter");
  ASSERT_EQ(kept.at("loss").size(), 8U);
  for (std::uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(kept.at("loss")[i].step, i + 1);
    EXPECT_EQ(kept.at("loss")[i].value, i < 2 ? 0.1 : 0.9);  // though the file has floats
  }
  EXPECT_TRUE(run.curves("nobody").empty());
}

TEST(ThreadRun, TheReportSeesAllThatNodesHaveReported) {
  for (const bool has_directory : {true, false}) {
    const Directory directory;
    std::atomic<int> starts = 1;  // it does not fail
    Program program("reports");
    program.add<Reporter>({.name = "reporter", .ends_program = true}, std::ref(starts));
    LaunchOptions options;
    if (has_directory) options.directory = directory.path() / "run";
    std::size_t points = 0;
    options.report = [&](lp::Run& run) {
      for (const auto& [name, curve] : run.curves("reporter")) points += curve.size();
    };
    lp::Run run(std::move(program), options);
    ASSERT_TRUE(run.wait().success) << run.wait().cause.text();
    EXPECT_EQ(points, has_directory ? 6U : 0U);  // without a directory nothing is kept
  }
}

TEST(ThreadRun, CurvesOfADirectoryThatWasRemovedMakeNoneAnew) {
  const Directory directory;
  std::atomic<int> starts = 1;  // it does not fail
  Program program("reports");
  program.add<Reporter>({.name = "reporter", .ends_program = true}, std::ref(starts));
  LaunchOptions options;
  options.directory = directory.path() / "run";
  std::size_t curves = 1;
  options.report = [&](lp::Run& run) {
    std::filesystem::remove_all(run.directory());
    curves = run.curves("reporter").size();
  };
  lp::Run run(std::move(program), options);
  EXPECT_FALSE(run.wait().success);
  EXPECT_EQ(curves, 0U);
  EXPECT_FALSE(std::filesystem::exists(run.directory()));
}

// Has a file that its checkpoint names, and works until the program stops, or has done its work.
class FileKeeper {
 public:
  FileKeeper(Context& node, std::filesystem::path parent, bool ends)
      : context_(node), parent_(std::move(parent)), ends_(ends) {}
  void run(Context& node) {
    std::ofstream(node.scratch(parent_, ScratchLife::cuts) / "large") << "file";
    node.exclusive([this] { context_.checkpoint(1); });
    EXPECT_TRUE(node.wait_for_cut(1));
    if (!ends_) node.wait_for_stop();
  }
  void save(Checkpoint& out) const { out.put("name", std::string("large")); }
  void load(const Checkpoint&) {}
  using Remote = Methods<>;

 private:
  Context& context_;
  const std::filesystem::path parent_;
  const bool ends_;
};

TEST(ThreadRun, OnlyTheEndOfTheWorkRemovesTheFilesThatACheckpointNames) {
  for (const bool ends : {true, false}) {
    const Directory directory;
    Program program("files");
    program.add<FileKeeper>({.name = "keeper", .ends_program = true}, lp::context, directory.path(), ends);
    LaunchOptions options;
    options.directory = directory.path() / "run";
    lp::Run run(std::move(program), options);
    if (!ends) {
      for (const Time end = after(std::chrono::seconds(60)); run.status().cut < 1 && !passed(end);)
        run.wait_for(std::chrono::milliseconds(1));
      run.stop("enough");
    }
    EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
    EXPECT_EQ(std::filesystem::exists(directory.path() / ("lp-" + run.name() + "-cuts") / "large"), !ends);
  }
}

}  // namespace
}  // namespace lp::test
