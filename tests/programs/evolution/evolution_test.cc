// Searches as graphs: the bits that a seed decides, restarts, results that come late, and objectives that fail.
#include "programs/evolution/evolution.h"

#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>

#include "lp/checkpoint/cut.h"
#include "tests/programs/evolution/evolution_run.h"
#include "tests/programs/experiments/ascending.h"

namespace lp {
namespace {

TEST(EvolutionTest, GivesTheSameBitsForAnyNumberOfWorkersOnEveryPath) {
  for (const NoiseKind kind : {NoiseKind::table, NoiseKind::counter}) {
    std::vector<float> expected;
    for (const int workers : {1, 2, 5}) {
      for (const bool serialize : {false, true}) {
        Evolution evolution = short_evolution(workers);
        evolution.search.noise.kind = kind;
        const std::vector<float> result = EvolutionRun(evolution, evolution_run_options(serialize)).result();
        if (expected.empty()) expected = result;
        EXPECT_EQ(result, expected) << workers << " workers";
      }
    }
    EXPECT_NE(EvolutionRun(short_evolution(), evolution_run_options(false, kEvolutionSeed + 1)).result(), expected);
  }
}

TEST(EvolutionTest, CountsAndLogsWhatItEvaluated) {
  EvolutionRun run(short_evolution());
  run.result();
  const EvolutionState state = run.state();
  EXPECT_EQ(state.generations, 20U);
  EXPECT_EQ(state.evaluations, 400U);
  EXPECT_EQ(state.stale, 0U);
  const TrainingCounts counts = run.learner().call<&EvolutionLearner::counts>();
  EXPECT_EQ(counts.updates, 20U);
  EXPECT_EQ(counts.steps, 400U);
  EXPECT_EQ(counts.episodes, 400U);
  const MetricSeries series = run.metrics().call<&Metrics::all>();
  EXPECT_EQ(series.at("best").back().value, *state.best);
  EXPECT_GT(series.at("best").back().value, series.at("best").front().value);
  EXPECT_EQ(series.at("sigma").size(), 20U);
}

TEST(EvolutionTest, TheBestPointHasTheBestValue) {
  EvolutionRun run(short_evolution());
  run.result();
  const EvolutionState state = run.state();
  EXPECT_EQ(-rastrigin(state.best_parameters.span()), *state.best);
}

TEST(EvolutionTest, AGoalEndsTheSearch) {
  Evolution evolution = short_evolution();
  evolution.search.objective = function_objective("sphere", 3);
  evolution.search.evaluations = 1'000'000'000;
  evolution.search.goal = -0.01;
  EvolutionRun run(evolution);
  run.result();
  EXPECT_GE(*run.state().best, -0.01);
  EXPECT_LT(run.state().generations, 1000U);
}

// The best value of a function in five dimensions.
double best_of(const std::string& function, const EvolutionStrategyOptions& options, std::uint64_t seed) {
  EvolutionRun run({.search = {.method = evolution_strategy(options),
                               .objective = function_objective(function, 5),
                               .noise = {.kind = NoiseKind::counter},
                               .evaluations = 150'000,
                               .goal = -1e-6}},
                   evolution_run_options(/*serialize=*/false, seed));
  run.result();
  return *run.state().best;
}

void expect_optima(std::uint64_t seed) {
  EXPECT_GE(best_of("sphere", {.pairs = 20, .sigma = 0.5F, .adam = {.rate = 0.3F}, .shrink = 0.97F}, seed), -1e-6);
  EXPECT_GE(best_of("ackley", {.pairs = 30, .sigma = 4, .adam = {.rate = 1.5F}, .shrink = 0.97F}, seed), -1e-6);
  EXPECT_GE(best_of("rastrigin", {.pairs = 50, .sigma = 1.5F, .adam = {.rate = 0.3F}, .shrink = 0.985F}, seed), -1e-6);
  EXPECT_GE(best_of("rosenbrock", {.pairs = 20, .sigma = 0.05F, .adam = {.rate = 0.05F}, .shrink = 0.998F}, seed),
            -1e-6);
}

TEST(EvolutionTest, AnEvolutionStrategyReachesTheOptimaOfTheFunctions) { expect_optima(kEvolutionSeed); }

TEST(EvolutionLong, AnEvolutionStrategyReachesTheOptimaWithFiveSeeds) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) expect_optima(seed);
}

TEST(EvolutionTest, ARunThatGoesBackToItsCutEndsWithTheSameBits) {
  const std::vector<float> expected = EvolutionRun(short_evolution()).result();
  for (const bool serialize : {false, true}) {
    const std::filesystem::path directory = ::testing::TempDir() + "lp_evolution_cut";
    std::filesystem::remove_all(directory);
    Runtime::Options options = evolution_run_options(serialize);
    options.run.directory = directory;
    {
      EvolutionRun run(short_evolution(), options);
      run.run.wait_saved(10, 1);
      run.run.restart({"learner", "worker/0", "worker/1"}, cut_directory(directory, 10));
      EXPECT_EQ(run.result(), expected);
      EXPECT_EQ(run.state().generations, 20U);
      EXPECT_EQ(run.state().evaluations, 400U);
      EXPECT_EQ(run.learner().call<&EvolutionLearner::counts>().steps, 400U);
      expect_ascending(run.metrics().call<&Metrics::all>());
    }
    std::filesystem::remove_all(directory);
  }
}

// A learner whose workers are played by the test.
class Played {
 public:
  explicit Played(EvolutionOptions options, int workers = 2) {
    const auto metrics = program_.add<Metrics>({.name = "metrics"});
    learner_ = program_.declare<EvolutionLearner>({.name = "learner", .ends_program = true});
    const auto members = program_.group<EvolutionMember>({.name = "worker", .replicas = workers});
    program_.define(*learner_, context, metrics, members, options);
    run.emplace(program_);
  }
  Client<EvolutionLearner> learner() { return run->client(*learner_); }
  EvolutionState state() { return learner().call<&EvolutionLearner::state>(); }
  TrialOrder work(std::uint32_t worker, const TrialReport& report = {}) {
    return learner().call<&EvolutionLearner::work>(worker, report);
  }

 private:
  Program program_{"evolution"};
  std::optional<Handle<EvolutionLearner>> learner_{};

 public:
  std::optional<LocalRun> run{};
};

TrialReport results(const TrialOrder& order) {
  TrialReport out{.generation = order.generation, .first = order.range.first};
  for (std::uint32_t i = 0; i < order.range.count; ++i) {
    out.trials.push_back({.index = order.range.first + i, .values = {1.0 * i, 2}, .steps = 2, .episodes = 2});
  }
  return out;
}

// Works as worker 0 until the generation is this one; returns the first order of it.
TrialOrder work_until(Played& played, std::uint64_t generation) {
  TrialOrder order = played.work(0);
  while (order.generation < generation) order = played.work(0, results(order));
  return order;
}

TEST(EvolutionTest, ResultsOfAnotherGenerationAreDroppedAndCounted) {
  for (const bool synchronous : {true, false}) {
    EvolutionOptions options = short_evolution().search;
    options.synchronous = synchronous;
    Played played(options);
    const TrialOrder old = played.work(0);
    ASSERT_EQ(old.range.count, 2U);
    const TrialOrder now = work_until(played, 1);
    EXPECT_EQ(played.state().stale, 0U);
    played.work(1, results(old));
    EXPECT_EQ(played.state().stale, 2U);
    EXPECT_EQ(played.state().evaluations, 20U);
    TrialReport ahead = results(now);  // from before the learner went back to a cut
    ahead.generation = 9;
    played.work(1, ahead);
    EXPECT_EQ(played.state().stale, 2U + now.range.count);
    EXPECT_EQ(played.state().generations, 1U);
  }
}

TEST(EvolutionTest, AWorkerThatAsksAgainLosesWhatItHad) {
  Played played(short_evolution().search);
  ASSERT_GT(played.work(0).range.count, 0U);
  EXPECT_EQ(work_until(played, 1).generation, 1U);  // it asks as after a restart, and evaluates the lost trials, too
  EXPECT_EQ(played.state().stale, 0U);
}

TEST(EvolutionTest, TrialsOfAWorkerThatIsLateAreGivenToAnother) {
  EvolutionOptions options = short_evolution().search;
  options.lease = std::chrono::milliseconds(1);
  Played played(options);
  static_cast<void>(played.work(1));  // it will never answer
  EXPECT_EQ(work_until(played, 3).generation, 3U);
}

TEST(EvolutionTest, WithoutWaitingForAllTheSearchGetsBetterToo) {
  Evolution evolution = short_evolution(5);
  evolution.search.objective = function_objective("sphere", 6);
  evolution.search.synchronous = false;
  evolution.search.evaluations = 4000;
  EvolutionRun run(evolution);
  EXPECT_LT(sphere(run.result()), 1);
  EXPECT_EQ(run.state().evaluations, 4000U);
}

TEST(EvolutionTest, AWorkerThatSendsNothingIsNamed) {
  EvolutionOptions options = short_evolution().search;
  options.patience = std::chrono::milliseconds(20);
  Played played(options);
  static_cast<void>(played.work(1));  // before, nobody is waited for
  played.run->wait_failed(1);
  const std::string text = played.run->failed().at("learner").what();
  EXPECT_NE(
      text.find("generation 0: for 20 ms no result has arrived from worker/1 (trials from 0 on); does the objective "
                "\"rastrigin\" not return?"),
      std::string::npos)
      << text;
}

enum class Fault { throws, throws_a_number, returns_nan, grows, counts_too_much };

// A sphere that fails in its eighth evaluation.
class Failing final : public Objective {
 public:
  explicit Failing(Fault fault) : fault_(fault) {}
  const std::string& name() const override { return name_; }
  std::size_t size() const override { return size_; }
  Eigen::VectorXf start(std::uint64_t) const override { return Eigen::Vector3f(1, 2, 3); }
  Evaluation evaluate(std::span<const float> x, std::uint64_t) override {
    if (++evaluations_ < 8) return {.value = -sphere(x)};
    if (fault_ == Fault::throws) throw std::runtime_error("the simulator crashed");
    if (fault_ == Fault::throws_a_number) throw 42;
    if (fault_ == Fault::grows) ++size_;
    if (fault_ == Fault::counts_too_much) return {.episodes = ~std::uint64_t{0}};
    return {.value = fault_ == Fault::returns_nan ? std::numeric_limits<double>::quiet_NaN() : 0};
  }

 private:
  const Fault fault_;
  const std::string name_ = "failing";
  std::size_t size_ = 3;
  int evaluations_ = 0;
};

TEST(EvolutionTest, AnObjectiveThatMisbehavesIsNamedByItsWorker) {
  for (const auto& [fault, sentence] :
       {std::pair(Fault::throws, "it threw an exception: the simulator crashed"),
        std::pair(Fault::throws_a_number, "it threw an exception: an exception that is not a std::exception"),
        std::pair(Fault::counts_too_much, "it counts 18446744073709551615 episodes and 1 steps in one evaluation"),
        std::pair(Fault::returns_nan, "its value is nan"), std::pair(Fault::grows, "its size() is 4 now; it was 3")}) {
    Evolution evolution = short_evolution(1);
    evolution.search.objective = [fault = fault](std::uint64_t) { return std::make_unique<Failing>(fault); };
    EvolutionRun run(evolution);
    run.run.wait_failed(1);
    const auto failed = run.run.failed();
    ASSERT_EQ(failed.count("worker/0"), 1U);
    const std::string text = failed.at("worker/0").what();
    EXPECT_NE(text.find("the objective \"failing\", generation 0, trial 3, point 1: "), std::string::npos) << text;
    EXPECT_NE(text.find(sentence), std::string::npos) << text;
  }
}

// It has so many parameters, and its start so many.
class Sized final : public Objective {
 public:
  Sized(std::size_t size, Eigen::Index start) : size_(size), start_(start) {}
  const std::string& name() const override { return name_; }
  std::size_t size() const override { return size_; }
  Eigen::VectorXf start(std::uint64_t) const override { return Eigen::VectorXf::Zero(start_); }
  Evaluation evaluate(std::span<const float>, std::uint64_t) override { return {}; }

 private:
  const std::size_t size_;
  const Eigen::Index start_;
  const std::string name_ = "sized";
};

TEST(EvolutionTest, AnObjectiveThatIsNoneOrHasAWrongSizeIsRefused) {
  const auto refused = [](const MakeObjective& make) {
    try {
      made_objective(make, 1);
    } catch (const Error& error) {
      return error.text();
    }
    return std::string();
  };
  EXPECT_EQ(refused([](std::uint64_t) { return std::make_unique<Sized>(5, 5); }), "");
  EXPECT_EQ(refused([](std::uint64_t) { return nullptr; }), "the function that makes the objective has returned none");
  EXPECT_EQ(refused([](std::uint64_t) { return std::make_unique<Sized>(0, 0); }),
            "the objective \"sized\" has no parameters: its size() is 0");
  EXPECT_EQ(refused([](std::uint64_t) { return std::make_unique<Sized>(5, 7); }),
            "the objective \"sized\" starts with 7 parameters, but its size() is 5");
}

std::string refusal(const Evolution& evolution) {
  try {
    Program program("evolution");
    add_evolution(program, evolution);
  } catch (const Error& error) {
    return error.text();
  }
  return "";
}

TEST(EvolutionTest, WhatIsMissingIsRefusedBeforeAnythingStarts) {
  Evolution evolution = short_evolution();
  evolution.search.objective = nullptr;
  EXPECT_EQ(refusal(evolution), "an evolution needs an objective");
  evolution = short_evolution();
  evolution.search.method = {};
  EXPECT_EQ(refusal(evolution), "an evolution needs a method with a search and a sampler");
  evolution = short_evolution();
  evolution.search.evaluations = 0;
  EXPECT_EQ(refusal(evolution), "an evolution needs at least 1 evaluation");
  evolution = short_evolution();
  evolution.search.goal = std::nan("");
  EXPECT_EQ(refusal(evolution), "an evolution needs a goal that is a number");
}

}  // namespace
}  // namespace lp
