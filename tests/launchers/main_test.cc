// lp::main as a person or a script uses it: flags, output, exit codes, signals.

#include "launchers/main.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "launchers/os/spawn.h"
#include "tests/launchers/engines_for_test.h"
#include "tests/launchers/main_fixture.h"
#include "tests/launchers/subprocess.h"
#include "tests/launchers/watched.h"

namespace lp::test {
namespace {

using std::chrono::seconds;

TEST_F(MainTest, WithJsonTheLastLineOfStandardOutputIsTheResult) {
  for (const LaunchType type : kEnginesHere) {
    const std::string launch(type.name());
    Subprocess program(arguments({"--launch=" + launch, "--json", "--workers=3"}));
    EXPECT_EQ(program.wait().code, 0) << program.err();
    EXPECT_TRUE(program.out().starts_with(std::string("{\"total\":15,\"list\":[3,5],\"launch\":\"") + launch +
                                          "\",\"seconds\":"))
        << program.out();
    EXPECT_EQ(std::count(program.out().begin(), program.out().end(), '\n'), 1);
  }
}

TEST_F(MainTest, AFlagWithoutAValueIsNotIgnored) {
  for (const std::string flag : {"--config", "--directory", "--graph", "--program", "--metrics"}) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{flag + "="}, {flag, ""}}) {
      std::vector<std::string> all{"program"};
      all.insert(all.end(), words.begin(), words.end());
      Subprocess program(all);
      EXPECT_EQ(program.wait().code, 2);
      EXPECT_TRUE(has(program.err(), flag + "= has no value: give one, or leave the flag out")) << program.err();
    }
  }
}

TEST_F(MainTest, WithoutJsonTheResultIsATable) {
  Subprocess program(arguments({"--workers=3"}));
  EXPECT_EQ(program.wait().code, 0);
  EXPECT_EQ(program.out(), "total  15\nlist   [3,5]\n");
}

TEST_F(MainTest, EveryOutputModeHasTheTrueExitCodeAndEndsWithTheCause) {
  for (const char* output : {"lines", "progress", "none"}) {
    Subprocess program(arguments({with_processes(), "--mode=exits", std::string("--output=") + output}));
    EXPECT_EQ(program.wait().code, 1);
    EXPECT_TRUE(program.err().ends_with("lp: the program failed: worker/1: exited with code 3\n")) << program.err();
  }
}

TEST_F(MainTest, AFailureIsOneJsonObjectToo) {
  Subprocess program(arguments({with_processes(), "--mode=throws", "--json"}));
  EXPECT_EQ(program.wait().code, 1);
  EXPECT_TRUE(
      has(program.last_line(),
          "\"success\":false,\"outcome\":\"failed\",\"reason\":\"worker/1 failed\",\"failed_node\":\"worker/1\","
          "\"cause\":\"std::runtime_error: no data here\"}"))
      << program.out();
}

TEST_F(MainTest, LinesCarryTheNodesName) {
  Subprocess program(arguments({with_processes(), "--mode=prints", "--workers=2"}));
  EXPECT_EQ(program.wait().code, 0);
  EXPECT_TRUE(has(program.out(), "worker/0 | a line\n"));
  EXPECT_TRUE(has(program.out(), "worker/1 | bytes \\x01\\xff\n"));
  EXPECT_TRUE(has(program.err(), "worker/1 | an error\n"));
  // Nothing is lost, however slowly it is read.
  const std::string line = " | " + std::string(1000, 'x') + "\n";
  std::size_t lines = 0;
  for (std::size_t at = program.out().find(line); at != std::string::npos; at = program.out().find(line, at + 1))
    ++lines;
  EXPECT_EQ(lines, 5998u) << "the first of each worker's 3000 goes on the line without an end";
}

TEST_F(MainTest, AClosedStandardOutputHarmsNobody) {
  Subprocess program(arguments({with_processes(), "--mode=prints"}));
  program.close_output();
  EXPECT_EQ(program.wait().code, 0) << program.err();
}

TEST_F(MainTest, CtrlCStopsInOrder) {
  for (const LaunchType type : kEnginesHere) {
    const std::string launch(type.name());
    Subprocess program(arguments({"--launch=" + launch, "--mode=says that it waits"}));
    ASSERT_TRUE(program.read_until("waiting"));
    program.kill(SIGINT);
    EXPECT_EQ(program.wait().code, 130);
    EXPECT_TRUE(has(program.err(), "the program was stopped by SIGINT")) << program.err();
  }
}

TEST_F(MainTest, ASecondCtrlCEndsAtOnce) {
  for (const LaunchType type : kEnginesHere) {
    const std::string launch(type.name());
    Subprocess program(arguments({"--launch=" + launch, "--mode=ignores the stop", "--grace=inf"}));
    ASSERT_TRUE(program.read_until("waiting"));
    const Time begin = now();
    program.kill(SIGINT);
    ASSERT_TRUE(program.read_until("another signal ends it at once"));
    program.kill(SIGINT);
    EXPECT_EQ(program.wait().code, 130) << program.err();
    EXPECT_LT(now() - begin, seconds(5));
  }
}

TEST_F(MainTest, BoundsThatAreLongerThanAnyRunAreForEver) {
  for (const char* bound : {"1e10", "1e300", "inf"}) {
    Subprocess program(
        arguments({with_processes(), std::string("--heartbeat=") + bound, std::string("--grace=") + bound}));
    EXPECT_EQ(program.wait().code, 0) << program.err();
  }
}

TEST_F(MainTest, ANodeThatCallsExitIsAFailureWithAResult) {
  Subprocess program(arguments({"--launch=threads", "--json", "--mode=calls exit"}));
  EXPECT_EQ(program.wait().code, 1);
  EXPECT_TRUE(has(program.last_line(), "\"success\":false")) << program.last_line();
  EXPECT_TRUE(has(program.last_line(), "a node called exit()")) << program.last_line();
}

TEST_F(MainTest, AProgramThatCannotBeMadeSaysWhyWhateverItThrows) {
  Subprocess program(arguments({"--json", "--mode=throws a number"}));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), "an exception that is not a std::exception")) << program.err();
  EXPECT_TRUE(has(program.last_line(), "it could not be started")) << program.last_line();
}

TEST_F(MainTest, AKilledLauncherLeavesNothing) {
  for (const bool stop_a_node : {false, true}) {
    Subprocess program(arguments({with_processes(), "--mode=leaves a daemon", "--workers=4"}));
    ASSERT_TRUE(program.read_until("waiting"));
    const auto processes = watch(launch::descendants(program.pid()));
    EXPECT_GE(processes.size(), 7u);  // agent, counter, workers, daemon
    if (stop_a_node) kill(processes.back()->pid(), SIGSTOP);
    program.kill(SIGKILL);
    expect_end_within(seconds(2), processes);
  }
}

TEST_F(MainTest, ANodeStartedByHandSaysSo) {
  for (const char* flag : {"--lp-node=worker/1", "--lp-agent"}) {
    Subprocess program({flag});
    EXPECT_EQ(program.wait().code, 2);
    EXPECT_TRUE(has(program.err(), "is only for processes that a launcher starts")) << program.err();
  }
}

TEST_F(MainTest, AProcessOfARunThatDoesNotEndWhereItShouldLaunchesNothing) {
  Subprocess by_hand({"careless"});
  EXPECT_EQ(by_hand.wait().code, 0) << by_hand.err();
  for (const char* flag : {"--lp-node=worker/1", "--lp-agent", "--lp-agent=0"}) {
    Subprocess program({"careless", flag});
    EXPECT_EQ(program.wait().code, 3);
    EXPECT_TRUE(has(program.err(), std::string("this process, started with ") + flag + ", is a process of a run"))
        << program.err();
    EXPECT_TRUE(has(program.err(), "(argc, argv, programs)) return *code;")) << program.err();
  }
}

#if !defined(LP_SANITIZED)  // a sanitizer reports it itself
TEST_F(MainTest, AStackOverflowOfAThreadSaysWhoseItIs) {
  Subprocess program(arguments({"--mode=recurses"}));
  EXPECT_EQ(program.wait().signal, SIGSEGV);
  EXPECT_TRUE(has(program.err(), "*** lp: counting: in counter: SIGSEGV, stack overflow, backtrace:\n"))
      << program.err();
  EXPECT_TRUE(has(program.err(), "recurse")) << program.err();
}
#endif

TEST_F(MainTest, AResultThatCannotBeKeptIsSaid) {
  for (const LaunchType type : kEnginesHere) {
    const std::string launch(type.name());
    Subprocess program(arguments({"--launch=" + launch, "--mode=says that it waits"}));
    ASSERT_TRUE(program.read_until("waiting"));
    const auto file = directory_ / ("run" + std::to_string(runs_)) / "result.json";
    std::filesystem::create_directory(file);
    program.kill(SIGINT);
    EXPECT_EQ(program.wait().code, 130);
    EXPECT_TRUE(has(program.err(), "lp: the result cannot be saved in the run directory: cannot write " +
                                       file.string() + ": Is a directory\n"))
        << program.err();
  }
}

TEST_F(MainTest, ADirectoryIsForOneLaunch) {
  Subprocess first(arguments({with_processes(), "--mode=says that it waits"}));
  ASSERT_TRUE(first.read_until("waiting"));
  const std::vector<std::string> same{"program", "--directory=" + (directory_ / "run1").string()};
  Subprocess second(same);
  EXPECT_EQ(second.wait().code, 2);
  EXPECT_TRUE(has(second.err(), "another launch is using the run directory ")) << second.err();
  first.kill(SIGINT);
  EXPECT_EQ(first.wait().code, 130);
  Subprocess third(same);
  EXPECT_EQ(third.wait().code, 2);
  EXPECT_TRUE(has(third.err(), " already holds another run")) << third.err();
}

TEST_F(MainTest, AFlagThatSaysNothingToTheLauncherIsRefused) {
  for (const auto& [flags, why] :
       {std::pair(std::vector<std::string>{with_processes(), "--hosts=a,b"},
                  "--hosts has no effect with --launch=processes: it needs "
                  "--launch=ssh"),
        {{"--launch=slurm", "--listen=10.0.0.1"}, "--listen has no effect with --launch=slurm"},
        {{"--kubectl=kubectl"}, "--kubectl has no effect with --launch=threads"},
        {{"--curve"}, "it needs --launch=processes or --launch=ssh or --launch=slurm"},
        {{with_processes(), "--submit"}, "--submit has no effect with --launch=processes"}}) {
    Subprocess program(arguments(flags));
    EXPECT_EQ(program.wait().code, 2);
    EXPECT_TRUE(has(program.err(), why)) << program.err();
  }
}

TEST_F(MainTest, AFlagTypedWrongIsRefused) {
  Subprocess program(arguments({"--worker=3"}));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), "workers")) << program.err();
}

TEST_F(MainTest, ADryRunStartsNothing) {
  Subprocess program(arguments({"--dry-run", "--json", with_processes()}));
  EXPECT_EQ(program.wait().code, 0);
  EXPECT_TRUE(program.out().starts_with("{\"program\":\"counting\",\"fingerprint\":")) << program.out();
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(MainTest, TheGraphIsDrawn) {
  for (const char* file : {"g.dot", "g.svg"}) {
    Subprocess program(arguments({"--graph=" + (directory_ / file).string()}));
    EXPECT_EQ(program.wait().code, 0) << program.err();
    std::ifstream stream(directory_ / file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    EXPECT_TRUE(has(text, "worker")) << text;
    EXPECT_TRUE(has(program.err(), "lp: the graph was drawn into ")) << program.err();
  }
}

TEST_F(MainTest, HelpNamesThePrograms) {
  Subprocess program({"program", "--help"});
  EXPECT_EQ(program.wait().code, 0);
  EXPECT_TRUE(program.out().ends_with("programs: program, saving, replicated\n")) << program.out();
}

TEST_F(MainTest, AConfigurationFilePlacesGroups) {
  const std::string file = configuration("mode: killed once\ngroups:\n  worker:\n    on_failure: {restart: 2}\n");
  Subprocess program(arguments({with_processes(), file}));
  EXPECT_EQ(program.wait().code, 0) << program.err();
  EXPECT_TRUE(has(program.err(), "restart 1 of 2")) << program.err();
}

TEST_F(MainTest, AGroupThatTheProgramDoesNotHaveIsRefused) {
  Subprocess program(arguments({configuration("groups:\n  workers:\n    cpus: 1\n")}));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), "c.yaml:2: the program has no group \"workers\"; did you mean worker?"))
      << program.err();
}

}  // namespace
}  // namespace lp::test
