// A new run goes on from the saved state of an old one.

#include <gtest/gtest.h>

#include <string>

#include "launchers/record/records.h"
#include "lp/base/file.h"
#include "lp/base/json.h"
#include "tests/launchers/engines_for_test.h"
#include "tests/launchers/main_fixture.h"

namespace lp::test {
namespace {

TEST_F(MainTest, AResumedRunGoesOnFromTheLastCut) {
  for (const LaunchType type : kEnginesHere) {
    const std::string launch(type.name());
    const auto begun = (directory_ / ("begun-" + launch)).string();
    const auto resumed = (directory_ / ("resumed-" + launch)).string();
    const auto flags = [&](const char* steps, const std::string& directory) {
      return std::vector<std::string>{"program", "--program=saving", "--launch=" + launch,
                                      std::string("--steps=") + steps, "--directory=" + directory};
    };
    Subprocess first(flags("6", begun));
    EXPECT_EQ(first.wait().code, 0) << first.err();
    EXPECT_FALSE(has(first.err(), "loaded step")) << first.err();

    std::vector<std::string> again = flags("9", resumed);
    again.push_back("--resume=" + begun);
    Subprocess second(again);
    EXPECT_EQ(second.wait().code, 0) << second.err();
    EXPECT_TRUE(has(second.err(), "loaded step 6\n")) << second.err();
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(resumed) / "checkpoints")) << second.err();
  }
}

TEST_F(MainTest, AResumedRunHasTheSeedAndTheConfigurationOfTheFirst) {
  Subprocess first(arguments({"--program=saving", "--seed=5", "--steps=6"}));
  EXPECT_EQ(first.wait().code, 0) << first.err();
  const std::string run1 = (directory_ / "run1").string();
  // Neither the program nor the seed is named again.
  Subprocess second(arguments({"--resume=" + run1, "--steps=9"}));
  EXPECT_EQ(second.wait().code, 0) << second.err();
  EXPECT_TRUE(has(second.err(), "lp: --steps is 9, but was 6 in " + run1 + "\n")) << second.err();
  EXPECT_TRUE(has(second.err(), "loaded step 6\n")) << second.err();
  EXPECT_TRUE(has(contents(directory_ / "run2" / "run.json"), "\"seed\":5,"));
  EXPECT_TRUE(has(contents(directory_ / "run2" / "config.yaml"), "steps: 9\n"));

  Subprocess other(arguments({"--resume=" + run1, "--restart"}));
  EXPECT_EQ(other.wait().code, 2);
  EXPECT_TRUE(has(other.err(), "--restart is true, but was false in the run to resume: ")) << other.err();
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run3"));
}

TEST_F(MainTest, ARunThatTookNoCutSinceItWasResumedIsResumedToo) {
  const auto run = [&](const std::string& steps, const std::string& resumed) {
    std::vector<std::string> flags{"--program=saving", "--steps=" + steps};
    if (!resumed.empty()) flags.push_back("--resume=" + (directory_ / resumed).string());
    Subprocess process(arguments(flags));
    EXPECT_EQ(process.wait().code, 0) << process.err();
    return process.err();
  };
  run("6", "");
  EXPECT_TRUE(has(run("6", "run1"), "loaded step 6\n"));  // nothing was left to do
  std::filesystem::remove_all(directory_ / "run1");
  EXPECT_TRUE(has(run("9", "run2"), "loaded step 6\n"));
}

TEST_F(MainTest, AResumedRunIsLaunchedAnew) {
  Subprocess first(arguments({"--program=saving", "--steps=6", "--launch=processes"}));
  EXPECT_EQ(first.wait().code, 0) << first.err();
  const std::string run1 = (directory_ / "run1").string();
  Subprocess second(arguments({"--resume=" + run1, "--steps=9"}));
  EXPECT_EQ(second.wait().code, 0) << second.err();
  EXPECT_TRUE(has(second.err(), "lp: --launch is threads, but was processes in " + run1 + "\n")) << second.err();
  Subprocess third(arguments({"--resume=" + run1, "--steps=9", "--launch=processes"}));
  EXPECT_EQ(third.wait().code, 0) << third.err();
  EXPECT_FALSE(has(third.err(), "--launch is")) << third.err();
}

TEST_F(MainTest, ARunWhoseConfigurationIsDamagedIsNotResumed) {
  Subprocess first(arguments({"--program=saving", "--steps=6"}));
  EXPECT_EQ(first.wait().code, 0) << first.err();
  const std::filesystem::path run = directory_ / "run1";
  for (const char* part : {"", "steps: 6\n"}) {
    write_file(run / "config.yaml", part);
    Subprocess second(arguments({"--resume=" + run.string(), "--steps=9"}));
    EXPECT_EQ(second.wait().code, 2);
    EXPECT_TRUE(has(second.err(), "config.yaml is damaged: it does not name its program")) << second.err();
  }
}

TEST_F(MainTest, ARunOfAnotherProgramIsNotResumedWhateverItsConfiguration) {
  Subprocess first(arguments({"--program=saving", "--steps=6"}));
  EXPECT_EQ(first.wait().code, 0) << first.err();
  const std::filesystem::path run = directory_ / "run1";
  const std::string configuration = contents(run / "config.yaml");
  auto record = from_json<RunRecord>(contents(run / "run.json"));
  record.program = "digits";
  const auto expect_refused = [&](const std::string& sentence) {
    write_file(run / "run.json", to_json(record));
    Subprocess second(arguments({"--resume=" + run.string(), "--steps=9"}));
    EXPECT_EQ(second.wait().code, 2);
    EXPECT_TRUE(has(second.err(), run.string() + " is a run of the program \"digits\", by " + record.binary + sentence))
        << second.err();
    EXPECT_FALSE(std::filesystem::exists(directory_ / ("run" + std::to_string(runs_))));
  };
  // The flags of both are the same.
  expect_refused(", but this is \"saving\": name a run of \"saving\", or resume that run with its own binary\n");
  record.binary = "/somewhere/digits";
  write_file(run / "config.yaml", "layers: 3\n" + configuration);
  expect_refused(": --resume takes a run of the program that resumes it\n");
}

TEST_F(MainTest, AResumedRunNeedsADirectoryOfItsOwn) {
  Subprocess first(arguments({"--program=saving", "--steps=6"}));
  EXPECT_EQ(first.wait().code, 0) << first.err();
  const std::string run1 = (directory_ / "run1").string();
  Subprocess second({"program", "--program=saving", "--resume=" + run1, "--directory=" + run1 + "/."});
  EXPECT_EQ(second.wait().code, 2);
  EXPECT_TRUE(has(second.err(),
                  "is the run that --resume continues, and a resumed run needs a directory of its own: "
                  "leave --directory out, or give another one"))
      << second.err();
}

TEST_F(MainTest, ARunIsResumedByItsNameAndAsTheLastOne) {
  Subprocess first({"program", "--program=saving", "--steps=6"});
  EXPECT_EQ(first.wait().code, 0) << first.err();
  for (const std::string run : {"last", "saving"}) {
    Subprocess again(arguments({"--resume=" + run, "--dry-run"}));
    EXPECT_EQ(again.wait().code, 0) << again.err();
  }
  Subprocess again({"program", "--resume=last", "--steps=9"});
  EXPECT_EQ(again.wait().code, 0) << again.err();
  EXPECT_TRUE(has(again.err(), "loaded step 6\n")) << again.err();
  Subprocess none(arguments({"--resume=digits"}));
  EXPECT_EQ(none.wait().code, 2);
  EXPECT_TRUE(has(none.err(), "there is no run \"digits\"; ")) << none.err();
}

TEST_F(MainTest, CutsWithoutAConfigurationAreNotResumed) {
  Subprocess first(arguments({"--program=saving", "--steps=6"}));
  EXPECT_EQ(first.wait().code, 0) << first.err();
  std::filesystem::remove(directory_ / "run1" / "config.yaml");
  Subprocess second(arguments({"--program=saving", "--resume=" + (directory_ / "run1").string()}));
  EXPECT_EQ(second.wait().code, 2);
  EXPECT_TRUE(has(second.err(), "run1 has no config.yaml, so the configuration of its checkpoints is unknown"))
      << second.err();
}

TEST_F(MainTest, ARunWithoutACutCannotBeResumed) {
  std::filesystem::create_directories(directory_ / "empty/checkpoints");
  for (const std::string resumed : {"empty", "nowhere"}) {
    const std::string path = (directory_ / resumed).string();
    Subprocess program(arguments({"--program=saving", "--resume=" + path}));
    EXPECT_EQ(program.wait().code, 2);
    EXPECT_TRUE(has(program.err(),
                    (resumed == "empty" ? "there is no complete checkpoint in " : "there is no run directory ") + path))
        << program.err();
  }
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run1"));
}

TEST_F(MainTest, ResumingNoRunIsNoNewRun) {
  for (const std::vector<std::string>& flag : {std::vector<std::string>{"--resume="}, {"--resume", ""}}) {
    std::vector<std::string> words = arguments({"--program=saving"});
    words.insert(words.end(), flag.begin(), flag.end());
    Subprocess program(words);
    EXPECT_EQ(program.wait().code, 2);
    EXPECT_TRUE(has(program.err(), "--resume= names no run: ")) << program.err();
  }
}

}  // namespace
}  // namespace lp::test
