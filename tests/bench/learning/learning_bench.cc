// learning_bench [--quick] [--seeds=N] [--curves=FOLDER]: how long the agents learn, over several seeds, and how good
// they become. A table on standard error, JSON on standard output; with a folder, the curves of an agent's seeds as one
// SVG for each task. Nothing else should run beside it.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/run.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/draw/chart.h"
#include "programs/agents/dqn.h"
#include "programs/agents/impala.h"
#include "programs/agents/ppo.h"
#include "programs/agents/td3.h"
#include "programs/environments/environments.h"
#include "programs/evolution/episodes.h"
#include "programs/evolution/evolution.h"
#include "programs/evolution/evolution_strategy.h"
#include "programs/experiments/experiment.h"
#include "programs/experiments/experiment_report.h"
#include "programs/experiments/metric_chart.h"
#include "tests/directory.h"

namespace {

// As that of sb3_peer.py: a part of the time in which an agent learns.
constexpr lp::Duration kPeriod = std::chrono::milliseconds(250);

struct Task {
  lp::Agent agent{};
  std::string environment{};
  int actors = 2;
  std::uint64_t steps = 0;  // an evolution counts points
  std::optional<double> goal{};
};

lp::MakeEnvironment environment_of(const Task& task) {
  return [name = task.environment] { return lp::make_environment(name); };
}
lp::EpisodeOptions episodes_of(const Task& task) { return {.environment = environment_of(task)}; }

// As the examples of these names.
std::vector<Task> all_tasks() {
  const Task evolution{.environment = "cartpole", .steps = 10'000, .goal = {}};
  Task es = evolution;
  es.agent = {.name = "es", .policy = lp::episode_policy(episodes_of(es))};
  return {{lp::dqn(), "cartpole", 1, 80'000, 475},
          {lp::dqn(), "acrobot", 1, 80'000, -92},
          {lp::ppo(), "cartpole", 2, 100'000, 475},
          {lp::ppo({.copies = 8, .steps = 256, .discount = 0.9F, .decay = 0.95F}), "pendulum", 2, 300'000, {}},
          {lp::impala(), "cartpole", 2, 1'000'000, 475},
          {lp::impala(), "catch", 2, 200'000, {}},
          {lp::td3(), "pendulum", 1, 20'000, {}},
          es};
}

lp::Experiment experiment_of(const Task& task) {
  return {.agent = task.agent,
          .environment = environment_of(task),
          .actors = task.actors,
          .steps = task.steps,
          .evaluation = {.period = kPeriod, .goal = task.goal},
          .checkpoint_every = 0};
}

lp::Program make_program(const Task& task) {
  lp::Program program("learning");
  const lp::Experiment experiment = experiment_of(task);
  if (task.agent.name != "es") {
    lp::add_experiment(program, experiment);
    return program;
  }
  const auto graph = lp::add_evolution(
      program, {.search = {.method = lp::evolution_strategy({.pairs = 32, .sigma = 0.1F, .adam = {.rate = 0.05F}}),
                           .objective = lp::episode_objective(episodes_of(task)),
                           .evaluations = task.steps,
                           .checkpoint_every = 0},
                .workers = task.actors});
  program.add<lp::PolicyEvaluator>({.name = "evaluator"}, lp::context, graph.learner, graph.metrics, task.agent.policy,
                                   experiment.environment, experiment.evaluation);
  return program;
}

struct Row {
  std::string agent{};
  std::string environment{};
  std::vector<double> seconds{};  // by seed
  std::vector<double> rewards{};  // mean of 100 new episodes
  double median_minutes = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Adds the result of one seed, and returns the rewards over the steps.
lp::Curve learn(const Task& task, std::uint64_t seed, Row& row) {
  const lp::test::Directory directory;
  lp::LaunchOptions options{.launch = lp::LaunchType::threads, .directory = directory.path() / "run"};
  options.seed = seed;
  lp::Curve curve;
  const lp::Time begin = lp::now();
  options.report = [&](lp::Run& run) {
    row.seconds.push_back(lp::to_seconds(lp::now() - begin));
    lp::LostFiles lost;
    row.rewards.push_back(lp::report_experiment(lp::experiment_nodes(run), experiment_of(task), seed, lost).mean);
    const auto series = run.client<lp::Metrics>("metrics").call<&lp::Metrics::all>();
    curve =
        lp::curve_of("seed " + std::to_string(seed), series.at(series.contains("reward") ? "reward" : "evaluation"));
  };
  lp::Run run(make_program(task), options);
  if (!run.wait().success) throw lp::Error(lp::ErrorKind::failed, run.wait().cause.text());
  return curve;
}

Row learn(const Task& task, int seeds, const std::filesystem::path& folder) {
  Row row{.agent = task.agent.name, .environment = task.environment};
  lp::Chart chart{.title = row.agent + " on " + row.environment};
  for (int seed = 1; seed <= seeds; ++seed) chart.curves.push_back(learn(task, static_cast<std::uint64_t>(seed), row));
  row.median_minutes = median(row.seconds) / 60;
  const auto [least, most] = std::minmax_element(row.rewards.begin(), row.rewards.end());
  std::fprintf(stderr, "| %s | %s | %d | %.1f to %.1f | %.3f |\n", row.agent.c_str(), row.environment.c_str(), seeds,
               *least, *most, row.median_minutes);
  if (!folder.empty()) {
    std::filesystem::create_directories(folder);
    lp::write_charts(folder / (row.agent + "_" + row.environment + ".svg"), {&chart, 1});
  }
  return row;
}

// The value of a flag; empty: it was not given.
std::string flag(int argc, char** argv, std::string_view name) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with(name)) return std::string(argv[i]).substr(name.size());
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string_view(argv[1]) == "--quick";
  const std::string seeds = flag(argc, argv, "--seeds=");
  std::fprintf(stderr,
               "| agent | environment | seeds | reward | median minutes |\n| --- | --- | ---: | ---: | ---: |\n");
  lp::JsonWriter json;
  json.begin_array();
  for (Task task : all_tasks()) {
    if (quick) task.steps = 3000;
    const int count = quick ? 1 : seeds.empty() ? 5 : std::stoi(seeds);
    json.json(lp::to_json(learn(task, count, flag(argc, argv, "--curves="))));
  }
  json.end_array();
  std::printf("%s\n", std::move(json).text().c_str());
  return 0;
}
