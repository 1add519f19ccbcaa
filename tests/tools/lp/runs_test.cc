// Runs that live, have ended and have died, as lp lists, shows and ends them.

#include "tools/lp/runs.h"

#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "lp/base/json.h"
#include "lp/base/scheduler.h"
#include "tests/tools/lp/lp_fixture.h"
#include "tools/lp/table.h"

namespace lp::test {
namespace {

// Leaves the files of a run that never ran.
void leave_run(const std::filesystem::path& directory, const std::string& plan, const RunRecord& record,
               const RunStatus& status, const ResultRecord& result) {
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "plan.json") << plan;
  std::ofstream(directory / "run.json") << to_json(record);
  std::ofstream(directory / "status.json") << to_json(status);
  std::ofstream(directory / "result.json") << to_json(result);
}

TEST_F(LpTest, ALiveRunIsListedShownAndStopped) {
  EXPECT_TRUE(has(lp("list").output, "There is no run yet"));
  Subprocess program(waiting());
  ASSERT_TRUE(program.read_until("waiting")) << program.err();
  wait_until_running();
  const Ended list = lp("list");
  EXPECT_EQ(list.code, 0);
  EXPECT_TRUE(has(list.output, "counting  running    3/3")) << list.output;
  const Ended status = lp("status last");
  EXPECT_TRUE(has(status.output, ": running, ")) << status.output;
  EXPECT_TRUE(has(status.output, "worker/1  running      1")) << status.output;

  const Ended stop = lp("stop last --reason='that was enough'");
  EXPECT_EQ(stop.code, 0) << stop.output;
  EXPECT_TRUE(has(stop.output, ": it was stopped by ")) << stop.output;
  EXPECT_TRUE(stop.output.ends_with(" (lp stop): that was enough\n")) << stop.output;
  EXPECT_EQ(program.wait().code, RunResult::kStopped);
  EXPECT_TRUE(has(program.err(), "lp: the program was stopped by ")) << program.err();
  EXPECT_TRUE(has(program.err(), " (lp stop): that was enough\n")) << program.err();
  EXPECT_TRUE(has(lp("list").output, " stopped ")) << lp("list").output;
  EXPECT_TRUE(has(lp("status last").output, ": stopped after ")) << lp("status last").output;
  EXPECT_TRUE(has(lp("status last --json").output, " (lp stop)\""));
  EXPECT_TRUE(has(lp("stop last").output, ": there is nothing to stop; it was stopped by "));
  EXPECT_TRUE(has(lp("restart last worker/1").output, ": it was stopped by "));
  EXPECT_EQ(lp("restart last worker/1").code, 4);
}

TEST_F(LpTest, ARunThatIsEndedByForceWasStoppedAlsoWhenItsNodesIgnoreThat) {
  Subprocess program({"program", "--launch=processes", "--mode=ignores the stop", "--grace=inf"});
  ASSERT_TRUE(program.read_until("waiting")) << program.err();
  wait_until_running();
  const Ended stop = lp("stop last --force");
  EXPECT_EQ(stop.code, 0) << stop.output;
  EXPECT_TRUE(has(stop.output, ": it was stopped by ")) << stop.output;
  EXPECT_TRUE(has(stop.output, "; its nodes were killed")) << stop.output;
  EXPECT_EQ(program.wait().code, RunResult::kStopped);
}

TEST_F(LpTest, OnlyRunsThatHaveEndedAreRemoved) {
  Subprocess ended({"program"});
  EXPECT_EQ(ended.wait().code, 0) << ended.err();
  const Directory elsewhere;
  Subprocess linked({"program", "--directory=" + (elsewhere.path() / "linked").string()});
  EXPECT_EQ(linked.wait().code, 0) << linked.err();
  Subprocess live(waiting());
  ASSERT_TRUE(live.read_until("waiting")) << live.err();
  wait_until_running();
  const Ended refused = lp("rm last");
  EXPECT_EQ(refused.code, 1);
  EXPECT_TRUE(has(refused.output, " is not removed: it is running: stop it first with `lp stop`")) << refused.output;
  EXPECT_EQ(lp("rm").code, 2);
  EXPECT_EQ(lp("rm --older-than=1h").output, "");
  const Ended removed = lp("rm --older-than=0");
  EXPECT_EQ(removed.code, 0) << removed.output;
  EXPECT_FALSE(std::filesystem::exists(elsewhere.path() / "linked"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(runs()), {}), 1);
  EXPECT_EQ(lp("stop last").code, 0);
  EXPECT_EQ(live.wait().code, RunResult::kStopped);
  EXPECT_EQ(lp("rm last").code, 0);
  EXPECT_TRUE(has(lp("list").output, "There is no run yet"));
}

TEST_F(LpTest, ManyCutsHideNoFailure) {
  Subprocess program({"program"});
  EXPECT_EQ(program.wait().code, 0) << program.err();
  const std::filesystem::path run = std::filesystem::directory_iterator(runs())->path();
  std::ofstream events(run / "events.log");
  const std::string time = R"({"time":)" + std::to_string(wall_clock() / 1'000'000'000);
  for (int step = 1; step <= 800; ++step) {
    if (step % 200 == 0) {
      events << time << R"(,"kind":"failed","node":"worker/1","incarnation":1,"text":"was killed"})" << '\n'
             << time << R"(,"kind":"starting","node":"worker/1","incarnation":2})" << '\n';
    }
    events << time << R"(,"kind":"cut","text":"the checkpoint of step )" << step << R"( is complete"})" << '\n';
  }
  events.close();
  RunStatus status = from_json<RunStatus>(JsonValue::parse(contents(run / "status.json")));
  status.cut = 800;
  std::ofstream(run / "status.json") << to_json(status);
  setenv("COLUMNS", "100", 1);  // for the whole texts
  const std::string shown = lp("describe last").output;
  EXPECT_TRUE(has(shown, "last checkpoint  step 800\n")) << shown;
  std::size_t failures = 0;
  for (std::size_t at = shown.find("was killed"); at != std::string::npos; at = shown.find("was killed", at + 1)) {
    ++failures;
  }
  EXPECT_EQ(failures, 4U) << shown;
  EXPECT_TRUE(has(shown, "the checkpoint of step 399 is complete, and 199 before it")) << shown;
  EXPECT_FALSE(has(shown, "left out")) << shown;
  EXPECT_TRUE(has(lp("describe last --all").output, "the checkpoint of step 398 is complete\n"));
}

TEST_F(LpTest, TwoMayStopARunAtOnce) {
  Subprocess program(waiting());
  ASSERT_TRUE(program.read_until("waiting")) << program.err();
  wait_until_running();
  const Ended both = command("'" LP_COMMAND "' stop last --reason=first & '" LP_COMMAND
                             "' stop last --reason=second; second=$?; wait $!; echo codes $? $second");
  EXPECT_TRUE(has(both.output, "codes 0 0")) << both.output;
  EXPECT_EQ(program.wait().code, RunResult::kStopped);
}

TEST_F(LpTest, AStopByForceKillsWhatDoesNotEnd) {
  Subprocess program({"program", "--launch=processes", "--mode=ignores the stop", "--grace=1000"});
  ASSERT_TRUE(program.read_until("waiting")) << program.err();
  wait_until_running();
  const Ended late = lp("stop last --timeout=0.1s");
  EXPECT_EQ(late.code, 5) << late.output;
  EXPECT_TRUE(has(late.output, "--force")) << late.output;
  const Ended forced = lp("stop last --force");
  EXPECT_EQ(forced.code, 0) << forced.output;
  program.wait();
}

TEST_F(LpTest, AStopOfASuspendedLauncherIsInTimeAndTakesEffectLater) {
  Subprocess program(waiting());
  ASSERT_TRUE(program.read_until("waiting"));
  wait_until_running();
  kill(program.pid(), SIGSTOP);
  const Time begin = now();
  const Ended late = lp("stop last --timeout=1");
  EXPECT_LT(now() - begin, std::chrono::seconds(8));  // and not the 10 s of other questions
  kill(program.pid(), SIGCONT);
  EXPECT_EQ(late.code, 5) << late.output;
  EXPECT_TRUE(has(late.output,
                  "the run does not answer within 1 s: its launcher may be suspended or overloaded; it stops "
                  "as soon as its launcher goes on"))
      << late.output;
  EXPECT_EQ(program.wait().code, 3) << program.err();
}

TEST_F(LpTest, ARunWhoseLauncherIsSuspendedIsSaidNotToAnswer) {
  Subprocess program(waiting());
  ASSERT_TRUE(program.read_until("waiting"));
  wait_until_running();
  kill(program.pid(), SIGSTOP);
  EXPECT_TRUE(has(lp("list").output, "no answer")) << lp("list").output;
  const std::string remedy = "its launcher is suspended: `kill -CONT " + std::to_string(program.pid()) + "` lets it go";
  const std::string status = lp("status last").output;
  EXPECT_TRUE(has(status, remedy)) << status;
  EXPECT_TRUE(has(status, " ago: " + remedy)) << status;
  for (const char* command :
       {"why last", "top last --once", "trace last", "stack last worker/1", "restart last worker"}) {
    const Ended asked = lp(command);
    EXPECT_EQ(asked.code, 5) << asked.output;
    EXPECT_TRUE(has(asked.output, " does not answer: " + remedy)) << command << ": " << asked.output;
  }
  kill(program.pid(), SIGCONT);
  EXPECT_FALSE(has(lp("list").output, "no answer"));
  EXPECT_EQ(lp("stop last").code, 0);
  EXPECT_EQ(program.wait().code, 3) << program.err();
}

TEST_F(LpTest, ARunWhoseLauncherWasKilledIsSaidToBeGone) {
  Subprocess program(waiting());
  ASSERT_TRUE(program.read_until("waiting")) << program.err();
  wait_until_running();
  program.kill(SIGKILL);
  program.wait();
  EXPECT_TRUE(has(lp("list").output, "launcher gone")) << lp("list").output;
  EXPECT_TRUE(has(lp("status last").output, "its launcher ended without writing a result")) << lp("status last").output;
  EXPECT_TRUE(has(lp("status last").output, "  of 3 nodes 3 ended with the run\n")) << lp("status last").output;
  EXPECT_FALSE(has(lp("status last").output, "running")) << lp("status last").output;
  EXPECT_EQ(lp("stop last").code, 0);
  const Ended restart = lp("restart last worker/1");
  EXPECT_EQ(restart.code, 4);
  EXPECT_TRUE(has(restart.output, "its launcher ended without writing a result, and so did its nodes"))
      << restart.output;
}

TEST_F(LpTest, ANodeIsRestartedAtNoCostOfItsBudget) {
  Subprocess program(waiting());
  ASSERT_TRUE(program.read_until("waiting")) << program.err();
  wait_until_running();
  const Ended restart = lp("restart last worker/0");
  EXPECT_EQ(restart.code, 0) << restart.output;
  EXPECT_TRUE(has(restart.output, "worker/0 is restarted")) << restart.output;
  OnTerminal watch = on_terminal({"status", "last", "--watch"});
  EXPECT_TRUE(watch.read_until("worker/0  running      2")) << watch.shown();
  const Ended group = lp("restart last worker");
  EXPECT_EQ(group.code, 0) << group.output;
  EXPECT_TRUE(has(group.output, "worker/0, worker/1")) << group.output;
  EXPECT_TRUE(watch.read_until("worker/0  running      3")) << watch.shown();
  EXPECT_TRUE(has(lp("complete restart last w").output, "worker\n"));
  const Ended unknown = lp("restart last wroker/0");
  EXPECT_EQ(unknown.code, 3);
  EXPECT_TRUE(has(unknown.output, "did you mean worker/0?")) << unknown.output;
  EXPECT_EQ(lp("stop last").code, 0);
  EXPECT_EQ(watch.wait(), 1);
  EXPECT_EQ(program.wait().code, RunResult::kStopped);
}

TEST_F(LpTest, ARunThatHasSucceededSaysThatAllNodesHaveEnded) {
  Subprocess program({"program", "--launch=processes"});
  EXPECT_EQ(program.wait().code, 0) << program.err();
  const Ended status = lp("status last");
  EXPECT_TRUE(has(status.output, ", all nodes have ended\n")) << status.output;
  EXPECT_FALSE(has(status.output, "nodes ready")) << status.output;
}

TEST_F(LpTest, AFailedRunTellsItsCause) {
  Subprocess program({"program", "--launch=processes", "--mode=throws"});
  EXPECT_EQ(program.wait().code, 1);
  const Ended status = lp("status last");
  EXPECT_EQ(status.code, 0);
  EXPECT_TRUE(has(status.output, "worker/1: std::runtime_error: no data here")) << status.output;
  EXPECT_TRUE(has(status.output, " nodes 1 failed, ")) << status.output;
  EXPECT_TRUE(has(status.output, "\nworker/1  failed ")) << status.output;
  EXPECT_FALSE(has(status.output, "nodes ready")) << status.output;
  EXPECT_TRUE(has(lp("list").output, "failed")) << lp("list").output;
  EXPECT_EQ(lp("status last --watch").code, 1);
}

TEST_F(LpTest, ARunHasManyNames) {
  for (const char* name :
       {"digits-20260131-235959-7f3a", "digits-20260201-000000-11c2", "train-20260201-010101-ab12"}) {
    leave_run(runs() / name, "{}", {.run = name, .program = "digits", .began = 1}, {}, {.success = true});
  }
  EXPECT_EQ(lp("status train").code, 0);
  EXPECT_EQ(lp("status 7f3a").code, 0);
  EXPECT_EQ(lp("status digits-20260131").code, 0);
  EXPECT_EQ(lp("status " + (runs() / "train-20260201-010101-ab12").string() + "/").code, 0);
  const auto here = std::filesystem::current_path();
  const Directory other;
  leave_run(other.path() / "mine", "{}", {.run = "mine", .program = "digits", .began = 1}, {}, {.success = true});
  std::filesystem::current_path(other.path());
  EXPECT_EQ(lp("status mine").code, 0) << "a run directory of the current one";
  std::filesystem::current_path(here);
  const Ended several = lp("status digits");
  EXPECT_EQ(several.code, 3);
  EXPECT_TRUE(has(several.output, "fits 2 runs; give more of the name:")) << several.output;
  EXPECT_TRUE(has(several.output, "digits-20260201-000000-11c2")) << several.output;
  const Ended unknown = lp("status tarin");
  EXPECT_EQ(unknown.code, 3);
  EXPECT_TRUE(has(unknown.output, "did you mean train-20260201-010101-ab12?")) << unknown.output;
  EXPECT_TRUE(has(lp("status nothing --json").output, R"("exit_code":3)"));
}

TEST_F(LpTest, ADirectoryElsewhereIsListedToo) {
  const Directory other;
  Subprocess program(waiting({"--directory=" + (other.path() / "deep").string()}));
  ASSERT_TRUE(program.read_until("waiting")) << program.err();
  wait_until_running();
  EXPECT_TRUE(has(lp("list").output, "running")) << lp("list").output;
  EXPECT_EQ(lp("stop " + (other.path() / "deep").string()).code, 0);
  EXPECT_EQ(program.wait().code, RunResult::kStopped);
}

TEST_F(LpTest, FilesThatAreNoJsonAreReportedAndTheOthersShown) {
  leave_run(runs() / "good-1", "{}", {.run = "good-1", .program = "good"}, {}, {.success = true});
  leave_run(runs() / "bad-1", "{}", {.run = "bad-1"}, {}, {});
  std::ofstream(runs() / "bad-1/status.json") << "{\"phase\":";
  const Ended list = lp("list");
  EXPECT_EQ(list.code, 0);
  EXPECT_TRUE(has(list.output, "unreadable")) << list.output;
  EXPECT_TRUE(has(list.output, "succeeded")) << list.output;
  EXPECT_EQ(lp("status bad-1").code, 1);
  const Ended old = lp("rm --older-than=0");
  EXPECT_EQ(old.code, 1);
  EXPECT_TRUE(has(old.output, "good-1 is removed")) << old.output;
  EXPECT_TRUE(has(old.output, "bad-1 stays, because its age is unknown")) << old.output;
  EXPECT_TRUE(has(lp("rm bad-1").output, "bad-1 is removed"));
  EXPECT_TRUE(has(lp("list").output, "There is no run yet"));
}

TEST_F(LpTest, TablesFitEightyColumns) {
  const std::string name = "a-program-with-quite-a-long-name-indeed-20260131-235959-7f3a";
  const std::string node = "reinforcement_learning_environment_workers/1023";
  RunStatus status{.run = name, .phase = Phase::ended, .cut = 123'456'789};
  status.nodes.push_back({.name = node,
                          .state = NodeStatus::State::failed,
                          .incarnation = 12,
                          .restarts = 11,
                          .pid = 4'194'303,
                          .step = 1'000'000,
                          .total = 10'000'000,
                          .text = "std::runtime_error: the environment said: " + std::string(200, 'x')});
  const RunRecord record{.run = name,
                         .program = "a-program-with-quite-a-long-name-indeed",
                         .began = 1,
                         .command = {"./a-program", "--" + std::string(100, 'f'), "--text=several words"}};
  leave_run(runs() / name, "{}", record, status,
            {.reason = node + " failed", .cause = {.node = node, .what = std::string(500, 'y') + "\n\033[31mé"}});
  for (const char* words : {"list", "status last", "describe last"}) {
    const Ended shown = lp(words);
    EXPECT_EQ(shown.code, 0);
    std::istringstream lines(shown.output);
    for (std::string line; std::getline(lines, line);) {
      if (line == "FIRST CAUSE") break;  // no table
      EXPECT_LE(tool::columns_of(line), 80U) << line;
      EXPECT_EQ(line.find('\033'), std::string::npos) << line;
    }
    EXPECT_TRUE(has(shown.output, "…")) << shown.output;
  }
  EXPECT_TRUE(has(lp("status last").output, "/1023")) << lp("status last").output;
}

TEST(Table, TextIsWrappedBetweenWordsWhereItCanBe) {
  EXPECT_EQ(tool::wrapped("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(tool::wrapped("éééééé", 4), (std::vector<std::string>{"éééé", "éé"}));
  EXPECT_EQ(tool::wrapped("", 4), (std::vector<std::string>{""}));
}

TEST(Table, WhatIsTooLongShowsThatItWasCut) {
  EXPECT_EQ(tool::shortened("a-long-name", 7), "a-long…");
  EXPECT_EQ(tool::shortened("a-long-name", 7, tool::Cut::middle), "a-l…ame");
  EXPECT_EQ(tool::shortened("ééé", 3), "ééé");
  EXPECT_EQ(tool::shortened("ééé", 2), "é…");
}

TEST_F(LpTest, TheReasonOfAnotherActsOnNoTerminal) {
  leave_run(runs() / "bad-1", "{}", {.run = "bad-1"}, {}, {.reason = "\033[31mred\a", .stopped_by = "ann"});
  const Ended why = lp("why bad-1");
  EXPECT_TRUE(has(why.output, "\\x1b[31mred\\x07")) << why.output;
}

TEST_F(LpTest, AFifoInPlaceOfALogIsNoLog) {
  leave_run(runs() / "odd-1", "{}", {.run = "odd-1"}, {}, {.success = true});
  std::filesystem::remove(runs() / "odd-1/events.log");
  ASSERT_EQ(mkfifo((runs() / "odd-1/events.log").c_str(), 0600), 0);
  EXPECT_EQ(lp("describe odd-1").code, 0);
  EXPECT_EQ(lp("report odd-1 -o '" + (runs() / "report.html").string() + "'").code, 0);
}

TEST_F(LpTest, ColoursAreForTerminalsThatTakeThem) {
  leave_run(runs() / "good-1", "{}", {.run = "good-1"}, {}, {.success = true});
  setenv("TERM", "xterm", 1);
  OnTerminal shown = on_terminal({"list"});
  shown.wait();
  EXPECT_TRUE(has(shown.shown(), "\033[32m")) << shown.shown();
  setenv("NO_COLOR", "1", 1);
  OnTerminal plain = on_terminal({"list"});
  plain.wait();
  unsetenv("NO_COLOR");
  EXPECT_FALSE(has(plain.shown(), "\033")) << plain.shown();
  EXPECT_FALSE(has(lp("list").output, "\033"));
}

TEST_F(LpTest, RunEndsAsTheProgramDoes) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  EXPECT_EQ(lp("run " + self + " program --mode=throws").code, 1);
  const Ended good = lp("run " + self + " program --json -- --workers=3");
  EXPECT_EQ(good.code, 0);
  EXPECT_TRUE(has(good.output, R"("total":15)")) << good.output;
  EXPECT_TRUE(has(lp("status last --json").output, R"("report":{"total":15,)")) << lp("status last --json").output;
  EXPECT_EQ(lp("run /no/such/program").code, 2);
}

TEST_F(LpTest, WrongWordsAreNamed) {
  for (const auto& [words, text] : std::vector<std::pair<std::string, std::string>>{
           {"lits", "there is no command \"lits\"; did you mean list?"},
           {"metrics x", "there is no command \"metrics\"; `lp help` shows"},
           {"status", "too few arguments: lp status RUN"},
           {"list all", "too many arguments"},
           {"list --jsn", "there is no flag --jsn; did you mean --json?"},
           {"stop last --timeout=soon", "expected a duration such as 90"},
           {"stop last --reason", "--reason needs a value"}}) {
    const Ended refused = lp(words);
    EXPECT_EQ(refused.code, 2) << words;
    EXPECT_TRUE(has(refused.output, text)) << refused.output;
  }
  EXPECT_EQ(lp("help").code, 0);
  EXPECT_TRUE(has(lp("stop --help").output, "--reason=TEXT"));
}

}  // namespace
}  // namespace lp::test
