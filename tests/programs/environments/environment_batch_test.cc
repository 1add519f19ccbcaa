// Batches of environments: episodes that follow each other, what a seed decides, what is saved, and environments that
// misbehave.
#include "programs/environments/environment_batch.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>

#include "lp/base/error.h"
#include "programs/environments/cart_pole.h"

namespace lp {
namespace {

// Counts its steps, and misbehaves in the step in which it is asked to.
class Counting final : public Environment {
 public:
  enum class Fault { none, throws, throws_a_number, fails, nan_reward, infinite_observation, grows };
  explicit Counting(Fault fault, std::uint64_t most_steps = 4, std::uint64_t ends_after = 100)
      : fault_(fault), ends_after_(ends_after) {
    spec_ = {.name = "counting",
             .observation = {.width = 2},
             .action = {.low = {-1}, .high = {2}},
             .most_steps = most_steps};
  }
  const EnvironmentSpec& spec() const override { return spec_; }
  void reset(Random random, std::span<float> observation) override {
    steps_ = 0;
    draw_ = static_cast<float>(random.uniform());
    observation[0] = 0;
    observation[1] = draw_;
  }
  StepResult step(std::span<const float> action, std::span<float> observation) override {
    ++steps_;
    observation[0] = static_cast<float>(steps_);
    observation[1] = draw_;
    const bool faulty = steps_ == 3;
    if (faulty && fault_ == Fault::throws) throw std::runtime_error("the simulator crashed");
    if (faulty && fault_ == Fault::throws_a_number) throw 42;
    if (faulty && fault_ == Fault::fails) throw Error(ErrorKind::failed, "the simulator has no map");
    if (faulty && fault_ == Fault::infinite_observation) observation[1] = std::numeric_limits<float>::infinity();
    if (faulty && fault_ == Fault::grows) spec_.observation.width = 3;
    const bool nan = faulty && fault_ == Fault::nan_reward;
    return {.reward = nan ? std::numeric_limits<float>::quiet_NaN() : action[0], .terminated = steps_ == ends_after_};
  }

 private:
  EnvironmentSpec spec_{};
  Fault fault_;
  std::uint64_t ends_after_;
  std::uint64_t steps_ = 0;
  float draw_ = 0;
};

EnvironmentBatch counting(Counting::Fault fault, std::uint64_t most_steps = 4, std::uint64_t ends_after = 100) {
  return {[=] { return std::make_unique<Counting>(fault, most_steps, ends_after); }, 2, 5};
}

std::string failure_of(EnvironmentBatch& batch, const Eigen::MatrixXf& actions, int steps) {
  try {
    for (int i = 0; i < steps; ++i) batch.step(actions);
  } catch (const Error& error) {
    return error.text();
  }
  return "";
}

const Eigen::MatrixXf kOnes = Eigen::MatrixXf::Ones(1, 2);

TEST(EnvironmentBatchTest, AnEpisodeIsTruncatedAtItsLimitAndTheNextBeginsAtOnce) {
  EnvironmentBatch batch = counting(Counting::Fault::none);
  for (int i = 0; i < 3; ++i) batch.step(kOnes);
  EXPECT_EQ(batch.ends()[0], EpisodeEnd::none);
  const float first = batch.observations()(1, 0);
  batch.step(kOnes);
  EXPECT_EQ(batch.ends()[0], EpisodeEnd::truncated);
  EXPECT_EQ(batch.last_observations()(0, 0), 4);
  EXPECT_EQ(batch.last_observations()(1, 0), first);
  EXPECT_EQ(batch.observations()(0, 0), 0);
  EXPECT_NE(batch.observations()(1, 0), first);  // another episode
  ASSERT_EQ(batch.finished().size(), 2U);
  EXPECT_EQ(batch.finished()[1].copy, 1U);
  EXPECT_EQ(batch.finished()[1].steps, 4U);
  EXPECT_EQ(batch.finished()[1].reward, 4);
  batch.step(kOnes);
  EXPECT_TRUE(batch.finished().empty());
}

TEST(EnvironmentBatchTest, AnEpisodeThatEndsByItselfInItsLastStepIsNotTruncated) {
  EnvironmentBatch batch = counting(Counting::Fault::none, 4, 4);
  for (int i = 0; i < 4; ++i) batch.step(kOnes);
  EXPECT_EQ(batch.ends()[0], EpisodeEnd::terminated);
}

TEST(EnvironmentBatchTest, ActionsAreBroughtIntoTheirRange) {
  EnvironmentBatch batch = counting(Counting::Fault::none);
  batch.step(5 * kOnes);
  EXPECT_EQ(batch.rewards(), Eigen::Vector2f(2, 2));
  batch.step(-5 * kOnes);
  EXPECT_EQ(batch.rewards(), Eigen::Vector2f(-1, -1));
}

TEST(EnvironmentBatchTest, CopiesDifferAndASeedRepeatsThem) {
  EnvironmentBatch one = counting(Counting::Fault::none);
  EnvironmentBatch same = counting(Counting::Fault::none);
  EnvironmentBatch other([] { return std::make_unique<Counting>(Counting::Fault::none); }, 2, 50);
  EXPECT_NE(one.observations()(1, 0), one.observations()(1, 1));
  EXPECT_EQ(one.observations(), same.observations());
  EXPECT_NE(one.observations(), other.observations());
}

TEST(EnvironmentBatchTest, ARestoredBatchGoesOnInTheMiddleOfItsEpisodes) {
  const auto make = [] { return std::make_unique<CartPole>(); };
  EnvironmentBatch batch(make, 3, 1);
  Random random(1, "actions");
  const auto draw = [](Random& from) {
    Eigen::MatrixXf actions(1, 3);
    for (float& one : actions.reshaped()) one = static_cast<float>(from.below(2));
    return actions;
  };
  for (int i = 0; i < 50; ++i) batch.step(draw(random));
  EnvironmentBatch restored(make, 3, 1);
  restored.restore(batch.state());
  ASSERT_EQ(restored.observations(), batch.observations());
  Random copy = random;
  double rewards = 0;
  for (int i = 0; i < 100; ++i) {
    batch.step(draw(random));
    restored.step(draw(copy));
    ASSERT_EQ(restored.observations(), batch.observations());
    ASSERT_EQ(restored.finished().size(), batch.finished().size());
    for (std::size_t k = 0; k < batch.finished().size(); ++k) {
      EXPECT_EQ(restored.finished()[k].reward, batch.finished()[k].reward);
      rewards += batch.finished()[k].reward;
    }
  }
  EXPECT_GT(rewards, 0);
  EnvironmentBatch two(make, 2, 1);
  EXPECT_THROW(two.restore(batch.state()), Error);
}

TEST(EnvironmentBatchTest, AnEnvironmentThatMisbehavesIsNamedWithThePlace) {
  const std::string where = "the environment \"counting\", copy 0, episode 0, step 2: ";
  EnvironmentBatch throws = counting(Counting::Fault::throws);
  EXPECT_EQ(failure_of(throws, kOnes, 3), where + "step() threw an exception: the simulator crashed");
  EnvironmentBatch number = counting(Counting::Fault::throws_a_number);
  EXPECT_EQ(failure_of(number, kOnes, 3),
            where + "step() threw an exception: an exception that is not a std::exception");
  EnvironmentBatch fails = counting(Counting::Fault::fails);
  EXPECT_EQ(failure_of(fails, kOnes, 3), where + "step() threw an exception: the simulator has no map");
  EnvironmentBatch nan = counting(Counting::Fault::nan_reward);
  EXPECT_EQ(failure_of(nan, kOnes, 3), where + "the reward is nan");
  EnvironmentBatch infinite = counting(Counting::Fault::infinite_observation);
  EXPECT_EQ(failure_of(infinite, kOnes, 3), where + "value 1 of the observation is inf");
  EnvironmentBatch grows = counting(Counting::Fault::grows);
  EXPECT_EQ(failure_of(grows, kOnes, 3), where +
                                             "its spec has observations of 3 values and actions of 1, but that of "
                                             "copy 0 began with observations of 2 values and actions of 1");
}

TEST(EnvironmentBatchTest, CopiesOfDifferentShapesAreRefused) {
  class Wide final : public Environment {
   public:
    const EnvironmentSpec& spec() const override { return spec_; }
    void reset(Random, std::span<float> observation) override { std::fill(observation.begin(), observation.end(), 0); }
    StepResult step(std::span<const float>, std::span<float>) override { return {}; }

   private:
    EnvironmentSpec spec_{.name = "wide", .observation = {.width = 7}, .action = {.choices = 2}, .most_steps = 4};
  };
  int made = 0;
  const auto make = [&made]() -> std::unique_ptr<Environment> {
    if (++made == 2) return std::make_unique<Wide>();
    return std::make_unique<Counting>(Counting::Fault::none);
  };
  try {
    const EnvironmentBatch batch(make, 2, 5);
    ADD_FAILURE() << "it was made";
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("copy 1, episode 0, step 0: its spec has observations of 7 values"), std::string::npos)
        << error.text();
  }
}

TEST(EnvironmentBatchTest, AWrongActionIsNamed) {
  EnvironmentBatch batch = counting(Counting::Fault::none);
  EXPECT_NE(failure_of(batch, kOnes * std::numeric_limits<float>::quiet_NaN(), 1).find("is not a number"),
            std::string::npos);
  EXPECT_NE(failure_of(batch, Eigen::MatrixXf::Ones(2, 2), 1).find("are 2 × 2, but there are 2 copies of 1"),
            std::string::npos);
  EnvironmentBatch choices([] { return std::make_unique<CartPole>(); }, 2, 1);
  for (const float wrong : {2.0F, -1.0F, 0.5F, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_NE(failure_of(choices, kOnes * wrong, 1).find("the agent chose action"), std::string::npos) << wrong;
  }
}

TEST(EnvironmentBatchTest, AFunctionThatMakesNoEnvironmentIsRefused) {
  try {
    EnvironmentBatch([] { return std::unique_ptr<Environment>(); }, 2, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(), "the function that makes the environment has returned none");
  }
}

TEST(EnvironmentBatchTest, AnEnvironmentThatCannotBeMadeIsNamedAsSuch) {
  try {
    EnvironmentBatch([]() -> std::unique_ptr<Environment> { throw std::runtime_error("no GPU"); }, 2, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(), "the environment could not be made: no GPU");
  }
}

// An environment whose spec is given.
class Specified final : public Environment {
 public:
  explicit Specified(EnvironmentSpec spec) : spec_(std::move(spec)) {}
  const EnvironmentSpec& spec() const override { return spec_; }
  void reset(Random, std::span<float>) override {}
  StepResult step(std::span<const float>, std::span<float>) override { return {}; }

 private:
  const EnvironmentSpec spec_;
};

TEST(EnvironmentBatchTest, AWrongSpecIsRefusedWithTheNameOfTheEnvironment) {
  const auto refusal = [](const EnvironmentSpec& spec) {
    try {
      made_environment([spec] { return std::make_unique<Specified>(spec); });
    } catch (const Error& error) {
      return std::string(error.text());
    }
    return std::string();
  };
  EnvironmentSpec spec{
      .name = "car", .observation = {.width = 2}, .action = {.low = {-1}, .high = {1}}, .most_steps = 10};
  EXPECT_EQ(refusal(spec), "");
  for (const float high : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::max()}) {
    spec.action = {.low = {-high}, .high = {high}};
    EXPECT_NE(refusal(spec).find("the environment \"car\" has an action with an infinite range"), std::string::npos);
  }
  spec.action = {.choices = 2};
  spec.observation.width = 0;
  EXPECT_EQ(refusal(spec), "the environment \"car\" has observations without values: its spec needs a shape");
}

TEST(EnvironmentBatchTest, AnEpisodeThatMayNeverEndIsRefused) {
  for (const std::uint64_t most : {std::uint64_t{0}, EnvironmentBatch::kMostSteps + 1}) {
    try {
      counting(Counting::Fault::none, most);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.text(),
                "the environment \"counting\" may never end: its spec needs most_steps from 1 to 100000000");
    }
  }
}

}  // namespace
}  // namespace lp
