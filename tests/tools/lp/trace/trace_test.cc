// lp trace of running programs: the file is read back.

#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/record/status.h"
#include "lp/base/json_value.h"
#include "tests/launchers/remote/ssh_hosts.h"
#include "tests/tools/lp/lp_fixture.h"
#include "tests/tools/lp/trace/trace_file.h"

namespace lp::test {
namespace {

constexpr std::string_view kComplete = R"("kind":"cut",)";

class TraceTest : public LpTest {
 protected:
  // A driver that makes calls and checkpoints until it is stopped.
  static Subprocess start(const std::string& launch, std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"program", "--program=saving", "--mode=ends when loaded", "--launch=" + launch});
    return Subprocess(std::move(flags));
  }
  std::string file() const { return (directory_.path() / "trace.json").string(); }
  // A trace that has a checkpoint and the steps around it; an interrupt ends it.
  TraceFile trace(Subprocess& program, std::vector<std::string> flags = {}) const {
    EXPECT_TRUE(program.read_until("step 3")) << program.err();
    flags.insert(flags.begin(), {"trace", "last", "--for=600", "-o", file()});
    Subprocess tracing(std::move(flags), LP_COMMAND);
    EXPECT_TRUE(tracing.read_until("recording")) << tracing.err();
    for (const std::size_t before = checkpoints(); checkpoints() == before;) {
    }
    tracing.kill(SIGINT);
    EXPECT_EQ(tracing.wait().code, 0) << tracing.err();
    return TraceFile(contents(file()));
  }

  // How many checkpoints of the only run are complete.
  std::size_t checkpoints() const {
    const std::string events = contents(std::filesystem::directory_iterator(runs())->path() / "events.log");
    std::size_t count = 0;
    for (std::size_t at = events.find(kComplete); at != events.npos; at = events.find(kComplete, at + 1)) ++count;
    return count;
  }

  // The process of this node of the only run, which its status may have a little later.
  int process_of(std::size_t node) const {
    const std::filesystem::path file = std::filesystem::directory_iterator(runs())->path() / "status.json";
    for (;;) {
      const auto status = from_json<RunStatus>(contents(file));
      if (status.nodes[node].pid != 0) return status.nodes[node].pid;
    }
  }

  static std::set<std::string> names(const std::vector<const TraceEvent*>& slices) {
    std::set<std::string> all;
    for (const TraceEvent* one : slices) all.insert(one->name);
    return all;
  }
  static void check_all(const TraceFile& found) {
    found.check();
    EXPECT_EQ(found.orphans(), 0U);
    EXPECT_EQ(names(found.slices("call")).count("saver/1.step()"), 1U);
    EXPECT_EQ(names(found.slices("handler")).count("step()"), 1U);
    EXPECT_EQ(names(found.slices("span")).count("advance"), 1U);
    EXPECT_TRUE(found.has_mark("checkpoint"));
    for (const TraceEvent* call : found.slices("call")) EXPECT_EQ(found.process(call->process), "driver");
  }
  static void stop(Subprocess& program) {
    EXPECT_EQ(lp("stop last --force").code, 0);
    program.wait();
  }

  const Directory directory_;
};

TEST_F(TraceTest, OfProcesses) {
  Subprocess program = start("processes");
  const TraceFile found = trace(program);
  check_all(found);
  EXPECT_EQ(names(found.slices("phase")).count("reply"), 1U);
  stop(program);
}

TEST_F(TraceTest, OfThreads) {
  Subprocess program = start("threads");
  check_all(trace(program, {"--sample=1"}));
  stop(program);
}

TEST_F(TraceTest, OfTwoHostsWithClocksOfTheirOwn) {
  const std::string clock = "/usr/bin/unshare --time --monotonic 100000 --fork";
  if (command(clock + " true").code != 0) GTEST_SKIP() << "this user can make no clock";
  const SshHosts hosts(clock);
  Subprocess program = start("ssh", {hosts.ssh(), SshHosts::hosts("h1:1,h2:2")});
  const TraceFile found = trace(program);
  check_all(found);
  EXPECT_EQ(names(found.slices("phase")).count("reply"), 1U);
  std::int64_t last = 0;
  for (const TraceEvent& event : found.events()) last = std::max(last, event.end());
  EXPECT_LT(last, 60'000'000'000);  // the hosts' clocks are a day apart
  stop(program);
}

TEST_F(TraceTest, ShowsARestart) {
  Subprocess program = start("processes");
  ASSERT_TRUE(program.read_until("step 60")) << program.err();  // after a cut
  Subprocess tracing({"trace", "last", "--for=60", "-o", file()}, LP_COMMAND);
  EXPECT_TRUE(tracing.read_until("recording"));
  EXPECT_EQ(lp("restart last saver/1").code, 0);
  EXPECT_TRUE(program.read_until("loaded step"));
  stop(program);  // the trace ends with the run
  EXPECT_EQ(tracing.wait().code, 0) << tracing.err();
  const TraceFile found(contents(file()));
  found.check();
  EXPECT_TRUE(found.has_mark("starting"));
  EXPECT_TRUE(found.has_mark("ready"));
}

TEST_F(TraceTest, SaysWhatAKilledNodeHasTakenWithItAndThatTheRunEnded) {
  Subprocess program = start("processes");
  ASSERT_TRUE(program.read_until("step 60")) << program.err();  // after a cut
  Subprocess tracing({"trace", "last", "--for=60", "-o", file()}, LP_COMMAND);
  EXPECT_TRUE(tracing.read_until("recording"));
  kill(process_of(1), SIGKILL);
  EXPECT_TRUE(program.read_until("loaded step"));
  stop(program);
  EXPECT_EQ(tracing.wait().code, 0) << tracing.err();
  EXPECT_TRUE(has(tracing.out(), "\nsaver/1 ended at ")) << tracing.out();
  EXPECT_TRUE(has(tracing.out(), " s: what it had recorded since ")) << tracing.out();
  const std::string last = tracing.out().substr(tracing.out().rfind('\n', tracing.out().size() - 2) + 1);
  EXPECT_TRUE(last.starts_with("The run ended after ")) << last;
  EXPECT_TRUE(last.ends_with(": the trace is shorter than the 60 s of --for\n")) << last;
  EXPECT_TRUE(has(contents(file()), "\"missing\":[\"saver/1 ended at "));
}

TEST_F(TraceTest, SaysThatAKilledLauncherHasTakenSpansWithIt) {
  Subprocess program = start("processes");
  ASSERT_TRUE(program.read_until("step 60")) << program.err();
  Subprocess tracing({"trace", "last", "--for=60", "-o", file()}, LP_COMMAND);
  EXPECT_TRUE(tracing.read_until("recording"));
  program.kill(SIGKILL);
  program.wait();
  EXPECT_EQ(tracing.wait().code, 0) << tracing.err();
  const std::string lost =
      "The launcher ended without a result: what the nodes had recorded since its last question is lost";
  EXPECT_TRUE(has(tracing.out(), "\n" + lost + "\n")) << tracing.out();
  EXPECT_TRUE(has(contents(file()), "\"missing\":[\"" + lost)) << tracing.out();
}

TEST_F(TraceTest, OfARunWhoseHostDoesNotAnswerIsAnError) {
  Subprocess program = start("processes");
  ASSERT_TRUE(program.read_until("step 3")) << program.err();
  std::ifstream stat("/proc/" + std::to_string(process_of(0)) + "/stat");
  std::string word;
  for (int i = 0; i < 4; ++i) stat >> word;  // the node's parent is the agent
  const int agent = std::stoi(word);
  kill(agent, SIGSTOP);
  const Ended silent = lp("trace last --for=0.01 -o '" + file() + "'");
  kill(agent, SIGCONT);
  EXPECT_EQ(silent.code, 5) << silent.output;
  EXPECT_TRUE(has(silent.output, "saver/0, saver/1 and driver did not answer")) << silent.output;
  EXPECT_FALSE(std::filesystem::exists(file()));
  stop(program);
}

TEST_F(TraceTest, EndsWhenItsTimeIsOver) {
  Subprocess program = start("processes");
  ASSERT_TRUE(program.read_until("step 3")) << program.err();
  const Ended traced = lp("trace last --for=0.5 -o '" + file() + "'");
  EXPECT_EQ(traced.code, 0) << traced.output;
  const TraceFile found(contents(file()));
  found.check();
  EXPECT_EQ(found.orphans(), 0U);
  stop(program);
}

TEST_F(TraceTest, RefusesWhatItCannotDo) {
  EXPECT_EQ(lp("trace last --sample=2").code, 2);
  EXPECT_EQ(lp("trace last --sample=none").code, 2);
  EXPECT_EQ(lp("trace last --sample=0").code, 2);
  const Ended none = lp("trace last --for=0");
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(has(none.output, "--for=0: ")) << none.output;
  for (const std::string command : {"trace last", "report last", "plot last loss"}) {
    const Ended nameless = lp(command + " -o ''");
    EXPECT_EQ(nameless.code, 2) << command;
    EXPECT_TRUE(has(nameless.output, "--output has no name of a file")) << nameless.output;
  }
  Subprocess program = start("processes");
  ASSERT_TRUE(program.read_until("step 3")) << program.err();
  const std::string missing = directory_.path() / "missing";
  const Ended nowhere = lp("trace last --for=600 -o '" + missing + "/trace.json'");  // before it records
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_TRUE(has(nowhere.output, missing)) << nowhere.output;
  EXPECT_EQ(lp("trace last --for=600 -o '" + directory_.path().string() + "'").code, 1);
  const Ended full = command("trap '' XFSZ; ulimit -f 1; '" LP_COMMAND "' trace last --for=0.5 -o '" + file() + "'");
  EXPECT_EQ(full.code, 1);
  EXPECT_TRUE(has(full.output, file())) << full.output;
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
  Subprocess first({"trace", "last", "--for=60", "-o", file()}, LP_COMMAND);
  EXPECT_TRUE(first.read_until("recording"));
  const Ended second = lp("trace last --for=0.01 -o '" + file() + ".second'");
  EXPECT_EQ(second.code, 1);
  EXPECT_TRUE(has(second.output, "recorded already")) << second.output;
  stop(program);
  first.wait();
}

}  // namespace
}  // namespace lp::test
