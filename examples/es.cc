// Searches by evolution: workers evaluate points around a centre, and a learner moves it. The points are policies for
// an environment, or those of a function.
//
//   worker/0 ─┬─▶ learner ─▶ metrics
//   worker/1 ─┘      ▲          ▲
//                evaluator ─────┘         (for an environment)
//
//   build/examples/es --environment=acrobot --launch=processes --plot=acrobot.svg
//   build/examples/es --function=rosenbrock --method=cma --workers=2..8

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "launchers/main.h"
#include "lp/base/file.h"
#include "lp/base/json.h"
#include "lp/kernels/chosen_device.h"
#include "lp/lp.h"
#include "nodes/lost_files.h"
#include "programs/environments/environments.h"
#include "programs/evolution/benchmark_functions.h"
#include "programs/evolution/cma.h"
#include "programs/evolution/episodes.h"
#include "programs/evolution/evolution.h"
#include "programs/evolution/evolution_report.h"
#include "programs/evolution/evolution_strategy.h"
#include "programs/evolution/objective.h"
#include "programs/experiments/experiment_report.h"

enum class Method : std::uint8_t { es, cma, separable_cma };

struct Config {
  std::string environment = "cartpole";
  std::string function{};
  int dimensions = 10;
  Method method = Method::es;
  lp::NoiseKind noise = lp::NoiseKind::table;
  lp::Replicas workers = 2;
  std::uint64_t evaluations = 10'000;
  std::optional<double> goal{};
  std::string device = "cpu";
  int pairs = 32;
  double sigma = 0;
  double rate = 0;
  double shrink = 0;
  double weight_decay = 0;
  int episodes = 1;
  bool synchronous = true;
  int restarts = 0;
  std::uint64_t checkpoint_every = 10;
  std::string plot{};

  static constexpr auto fields = lp::fields(
      lp::field("environment", "learn a policy for acrobot, cartpole, catch, mountaincar or pendulum"),
      lp::field("function", "minimize ackley, rastrigin, rosenbrock or sphere instead of learning in an environment"),
      lp::field("dimensions", "number of variables of the function", lp::range(1, 10'000'000)),
      lp::field("method", "an evolution strategy with gradients, CMA-ES, or CMA-ES for many parameters"),
      lp::field("noise", "where random numbers come from: a table, or a counter-based generator"),
      lp::field("workers", "nodes that evaluate; 2..8: up to eight, and at least two", lp::range(1, 64)),
      lp::field("evaluations",
                "the search ends after this number of evaluated points, or some more: a generation that was begun is "
                "finished",
                lp::at_least(1), lp::changeable),
      lp::field("goal", "the search ends at this mean reward of 100 episodes, or at this value of the function",
                lp::changeable),
      lp::field("device", "where an evolution strategy computes points and its gradient: cpu, cuda or auto",
                lp::changeable),
      lp::field("pairs", "pairs of mirrored points in a generation; with CMA-ES, twice as many points",
                lp::range(2, 100'000)),
      lp::field("sigma", "the first step size; 0: a value that fits the task", lp::non_negative),
      lp::field("rate", "learning rate of Adam in an evolution strategy; 0: a value that fits the task",
                lp::non_negative),
      lp::field("shrink", "factor for sigma and rate after each generation; 0: a value that fits the task",
                lp::range(0, 1)),
      lp::field("weight_decay", "how strongly the parameters are pulled towards 0", lp::non_negative),
      lp::field("episodes", "episodes in each evaluation", lp::range(1, 1000)),
      lp::field("synchronous",
                "a generation waits for all of its points, so that the seed decides every bit of the result"),
      lp::field("restarts", "how often a failed node is restarted before the program stops", lp::non_negative,
                lp::changeable),
      lp::field("checkpoint_every", "generations from one checkpoint to the next; 0: only one at the end",
                lp::changeable),
      lp::field("plot", "draw the values over the steps into this SVG file", lp::changeable));

  bool acts() const { return function.empty(); }

  void check_given(std::span<const std::string> given) const {
    const auto refuse = [&](bool none, std::initializer_list<std::string_view> flags, const char* with) {
      for (const std::string_view flag : flags) {
        if (none && std::find(given.begin(), given.end(), flag) != given.end()) {
          throw lp::Error(lp::ErrorKind::failed, "--" + std::string(flag) + " has an effect only with" + with);
        }
      }
    };
    refuse(acts(), {"dimensions"}, " --function");
    refuse(!acts(), {"environment", "episodes"}, "out --function");
    refuse(method != Method::es, {"rate", "shrink", "weight_decay"}, " --method=es");
  }
};

lp::EpisodeOptions episodes_of(const Config& config) {
  return {.environment = [name = config.environment] { return lp::make_environment(name); },
          .episodes = static_cast<std::size_t>(config.episodes)};
}

// Throws Error for a value that the search, which computes with floats, could not have.
void check_float(const std::string& flag, double value, const std::string& most = "3.4e38") {
  if (value == 0 || (value >= 1.2e-38 && value <= 3.4e38)) return;
  throw lp::Error(lp::ErrorKind::failed, "--" + flag + "=" + lp::to_json(value) +
                                             " is out of range: give 0, or a value from 1.2e-38 to " + most);
}

lp::SearchMethod method_of(const Config& config) {
  check_float("sigma", config.sigma);
  check_float("rate", config.rate);
  check_float("weight_decay", config.weight_decay);
  check_float("shrink", config.shrink, "1");

  const auto pairs = static_cast<std::size_t>(config.pairs);
  const auto or_else = [](double given, double fitting) { return given != 0 ? given : fitting; };
  const bool acts = config.acts();
  const lp::kernels::MakeQueue make_queue = lp::kernels::queue_on(lp::kernels::chosen_device(config.device));
  if (config.method != Method::es) {
    if (config.device == "cuda") throw lp::Error(lp::ErrorKind::failed, "--device=cuda goes with --method=es");
    return lp::cma({.sigma = or_else(config.sigma, acts ? 0.5 : 1),
                    .population = 2 * pairs,
                    .separable = config.method == Method::separable_cma});
  }
  const lp::EvolutionStrategyOptions options{
      .pairs = pairs,
      .sigma = static_cast<float>(or_else(config.sigma, acts ? 0.1 : 1)),
      .adam = {.rate = static_cast<float>(or_else(config.rate, acts ? 0.05 : 0.3))},
      .weight_decay = static_cast<float>(config.weight_decay),
      .shrink = static_cast<float>(or_else(config.shrink, acts ? 1 : 0.985))};
  return make_queue ? lp::evolution_strategy(options, make_queue) : lp::evolution_strategy(options);
}

lp::Evolution evolution_of(const Config& config) {
  lp::Evolution out{.search = {.method = method_of(config),
                               .noise = {.kind = config.noise},
                               .synchronous = config.synchronous,
                               .evaluations = config.evaluations,
                               .checkpoint_every = config.checkpoint_every},
                    .workers = config.workers,
                    .restarts = config.restarts,
                    .device = config.method == Method::es ? config.device : "cpu"};
  if (config.acts()) {
    out.search.objective = lp::episode_objective(episodes_of(config));
  } else {
    out.search.objective = lp::function_objective(config.function, static_cast<std::size_t>(config.dimensions));
    if (config.goal) out.search.goal = -*config.goal;
  }
  return out;
}

lp::Program make_program(const Config& config) {
  if (std::isnan(config.goal.value_or(0))) throw lp::Error(lp::ErrorKind::failed, "--goal is no number");
  lp::Program program("es");
  const auto graph = lp::add_evolution(program, evolution_of(config));
  if (config.acts()) {
    const lp::EpisodeOptions episodes = episodes_of(config);
    program.add<lp::PolicyEvaluator>({.name = "evaluator", .on_failure = lp::restart(config.restarts)}, lp::context,
                                     graph.learner, graph.metrics, lp::episode_policy(episodes), episodes.environment,
                                     lp::PlayOptions{.goal = config.goal});
  }
  return program;
}

struct Result {
  double mean = 0;  // reward of 100 new episodes; of a function, the value of the best point
  lp::EvolutionResult search{};
};

Result result_of(lp::Run& run, const Config& config, lp::LostFiles& lost) {
  const auto learner = run.client<lp::EvolutionLearner>("learner");
  const std::string title =
      method_of(config).name + " on " + (config.acts() ? config.environment : "minus " + config.function);
  const lp::EvolutionResult search = lp::report_evolution(learner, lp::reported_series(run), title, lost, config.plot);
  if (!config.acts()) return {.mean = -search.best.value_or(std::nan("")), .search = search};
  const lp::EpisodeOptions episodes = episodes_of(config);
  const lp::Experiment experiment{.agent = {.name = "the policy", .policy = lp::episode_policy(episodes)},
                                  .environment = episodes.environment,
                                  .evaluation = {.goal = config.goal}};
  const auto evaluator = run.client<lp::PolicyEvaluator>("evaluator");
  return {.mean = lp::report_experiment({learner, evaluator}, experiment, run.seed(), lost).mean, .search = search};
}
Result report(lp::Run& run, const Config& config) {
  lp::LostFiles lost;
  const Result result = result_of(run, config, lost);
  return lp::finish_report(result, lost.text());
}

void prepare(Config& config) {
  if (!config.plot.empty()) lp::check_output_file("--plot", config.plot);
  if (config.acts()) lp::made_objective(lp::episode_objective(episodes_of(config)), 0);  // refuses what cannot be made
  // CMA-ES computes on the host.
  const bool on_host = config.device == "auto" && config.method != Method::es;
  config.device = on_host ? "cpu" : lp::kernels::chosen_device(config.device);
}

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report, prepare); }
