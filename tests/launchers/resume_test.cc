// A new run goes on where an old one was saved.

#include <gtest/gtest.h>

#include <string>

#include "tests/launchers/main_fixture.h"

namespace lp::test {
namespace {

TEST_F(MainTest, AResumedRunGoesOnFromTheLastCut) {
  for (const std::string launch : {"threads", "processes"}) {
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

TEST_F(MainTest, ARunWithoutACutCannotBeResumed) {
  Subprocess program(arguments({"--program=saving", "--resume=" + (directory_ / "nowhere").string()}));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), "there is no complete cut in ")) << program.err();
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
