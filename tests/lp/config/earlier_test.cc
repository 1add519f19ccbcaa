// A program that goes on from an earlier run has that run's values.

#include <gtest/gtest.h>

#include "tests/lp/config/config_for_test.h"

namespace lp::test {
namespace {

struct Training {
  int workers = 4;
  int steps = 100;
  double rate = 0.1;
  std::string data = "digits";
  int threads = 2;
  static constexpr auto fields = lp::fields(lp::field("workers", "nodes", lp::at_least(1)),
                                            lp::field("steps", "batches", lp::at_least(1), lp::changeable),
                                            lp::field("rate", "learning rate", lp::changeable),
                                            lp::field("threads", "of a worker", lp::at_least(1), lp::adaptable));
};

struct Flags {
  std::string config{};
  std::string resume{};
  std::uint64_t seed = 0;
  std::string program{};
  static constexpr auto fields = lp::fields(lp::field("seed", "of all", lp::changeable));
};

struct Resumed {
  Training config{};
  Flags flags{};
  CommandLine line{};
};

Resumed resume(std::vector<const char*> words, const std::string& earlier) {
  words.insert(words.begin(), "program");
  Resumed all;
  all.line = parse(static_cast<int>(words.size()), words.data(), bind(all.config), bind(all.flags), {},
                   [&]() -> std::optional<EarlierValues> {
                     if (all.flags.resume.empty()) return std::nullopt;
                     return EarlierValues{earlier, all.flags.resume + "/config.yaml"};
                   });
  return all;
}

constexpr const char* kEarlier =
    "workers: 2\nsteps: 50\nrate: 0.5\ndata: iris\nthreads: 2\nlaunch: {program: train, seed: 5}\n";

std::string refusal(const std::vector<const char*>& words, const std::string& earlier = kEarlier) {
  try {
    resume(words, earlier);
  } catch (const Error& error) {
    return error.text();
  }
  return "nothing was wrong";
}

TEST(EarlierValues, StandInThePlaceOfTheDefaults) {
  const Resumed run = resume({"--resume=X"}, kEarlier);
  EXPECT_EQ(run.config.workers, 2);
  EXPECT_EQ(run.config.data, "iris");
  EXPECT_EQ(run.flags.seed, 5U);
  EXPECT_EQ(run.flags.program, "train");
  EXPECT_TRUE(run.line.changes.empty());
}

TEST(EarlierValues, SayNothingToARunThatBeginsAfresh) {
  EXPECT_EQ(resume({}, kEarlier).config.workers, 4);
  EXPECT_EQ(resume({}, kEarlier).flags.seed, 0U);
}

TEST(EarlierValues, GiveWayToFlagsOfFieldsThatMayChange) {
  const Resumed run = resume({"--steps=80", "--seed=6", "--workers=2", "--resume=X"}, kEarlier);
  EXPECT_EQ(run.config.steps, 80);
  EXPECT_EQ(run.flags.seed, 6U);
  EXPECT_EQ(run.line.changes, (std::vector<std::string>{"--steps is 80, but was 50", "--seed is 6, but was 5"}));
}

TEST(EarlierValues, OfOtherFieldsCannotChange) {
  EXPECT_EQ(refusal({"--resume=X", "--workers=3"}),
            "--workers is 3, but was 2 in the run to resume: only these may change: --steps, --rate, --seed");
  EXPECT_EQ(refusal({"--resume=X", "--data=wine"}),
            "--data is \"wine\", but was \"iris\" in the run to resume: only these may change: --steps, --rate, "
            "--seed");
  EXPECT_EQ(refusal({"--resume=X", "--workers=3", "--steps=80", "--data=wine"}),
            "--workers is 3, but was 2; --data is \"wine\", but was \"iris\" in the run to resume: only these may "
            "change: --steps, --rate, --seed");
  EXPECT_EQ(refusal({"--resume=X", "--program=ring"}),
            "--program is \"ring\", but was \"train\" in the run to resume: only these may change: --steps, --rate, "
            "--seed");
}

TEST(EarlierValues, ThatAreOfAnotherProgramAreRefusedWithTheirPlace) {
  EXPECT_EQ(refusal({"--resume=X"}, "wrkers: 2\n"), "X/config.yaml:1:1: unknown key \"wrkers\"; did you mean workers?");
}

// Returns the refusal to take over the state of a run with the earlier values.
std::string refusal_to_adapt(Training config) {
  try {
    check_adapted(bind(config), {kEarlier, "X/config.yaml"});
  } catch (const Error& error) {
    return error.text();
  }
  return config.threads == 9 ? "nothing was wrong" : "it has other values now";
}

TEST(EarlierValues, AreComparedWhereTheStateOfTheirRunIsTakenOver) {
  const Training same{.workers = 2, .steps = 70, .rate = 0.5, .data = "iris", .threads = 9};
  EXPECT_EQ(refusal_to_adapt(same), "nothing was wrong");
  Training other = same;
  other.workers = 3;
  EXPECT_EQ(refusal_to_adapt(other),
            "--workers is 3, but was 2 in the run whose state is taken over: only these may change: --steps, --rate, "
            "--threads");
}

TEST(EarlierValues, OfAnAdaptableFieldCannotChangeInAResumedRun) {
  EXPECT_NE(refusal({"--resume=X", "--threads=3"}).find("--threads is 3, but was 2 in the run to resume"),
            std::string::npos);
}

}  // namespace
}  // namespace lp::test
