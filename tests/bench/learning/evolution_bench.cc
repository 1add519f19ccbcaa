// evolution_bench [--quick]: points that a search by evolution evaluates in a second, by the number of workers, and the
// bytes that an evaluation costs, by the number of parameters. A table on standard error, JSON on standard output.
// Fails when the bytes of an evaluation depend on the number of parameters.

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "launchers/admin/admin_client.h"
#include "launchers/control/measurement.h"
#include "launchers/programs.h"
#include "launchers/run.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/base/json_value.h"
#include "programs/environments/environments.h"
#include "programs/evolution/benchmark_functions.h"
#include "programs/evolution/episodes.h"
#include "programs/evolution/evolution.h"
#include "programs/evolution/evolution_strategy.h"
#include "tests/directory.h"

namespace {

struct Config {
  int workers = 1;
  std::uint64_t parameters = 0;  // the dimensions of a sphere; 0: CartPole
  lp::NoiseKind noise = lp::NoiseKind::table;
  std::uint64_t generations = 10;
  int pairs = 64;
};

lp::MakeObjective objective_of(const Config& config) {
  if (config.parameters > 0) return lp::function_objective("sphere", config.parameters);
  return lp::episode_objective({.environment = [] { return lp::make_environment("cartpole"); }});
}

lp::Program make_program(const Config& config) {
  const auto pairs = static_cast<std::size_t>(config.pairs);
  lp::Program program("evolution");
  lp::add_evolution(program, {.search = {.method = lp::evolution_strategy({.pairs = pairs, .adam = {.rate = 0.05F}}),
                                         .objective = objective_of(config),
                                         .noise = {.kind = config.noise, .table_size = std::size_t{1} << 22},
                                         .evaluations = config.generations * 2 * pairs,
                                         .checkpoint_every = 0},
                              .workers = config.workers});
  return program;
}

struct Row {
  int workers = 0;
  std::uint64_t parameters = 0;
  std::string noise{};
  double points_a_second = 0;
  double steps_a_second = 0;
  double efficiency = 0;          // 1: neither of two workers waits for the other; 0: not measured
  double bytes_a_point = 0;       // for orders and results, both ways
  double bytes_a_generation = 0;  // the centre, which is read in place, for each worker
  double calls_a_generation = 0;  // for orders, of all workers
};

void measure_calls(lp::Run& run, Row& row, std::uint64_t generations) {
  const lp::Time until = lp::after(std::chrono::seconds(60));
  lp::launch::AdminClient client(run.directory());
  client.ask(R"({"ask":"measure"})", until);
  const auto answer = client.next(until);
  if (!answer) throw lp::Error(lp::ErrorKind::failed, "the run does not answer");
  double bytes = 0;
  double calls = 0;
  double centre = 0;
  for (const lp::MeasureRecord::Calls& one : lp::from_json<lp::MeasureRecord>(*answer).calls) {
    if (!one.caller.starts_with("worker/")) continue;
    const auto both = static_cast<double>(one.bytes_sent + one.bytes_received);
    if (one.method == "work") {
      bytes += both;
      calls += static_cast<double>(one.calls);
    } else if (one.method == "population") {
      centre += both;
    }
  }
  const auto state = run.client<lp::EvolutionLearner>("learner").call<&lp::EvolutionLearner::state>();
  row.bytes_a_point = bytes / static_cast<double>(state.evaluations);
  row.calls_a_generation = calls / static_cast<double>(generations);
  row.bytes_a_generation = centre / static_cast<double>(generations) / row.workers;
}

// From the end of the first generation to that of the last.
void measure_time(lp::Run& run, Row& row, const Config& config) {
  const auto series = run.client<lp::Metrics>("metrics").call<&lp::Metrics::all>();
  const std::vector<lp::MetricPoint>& points = series.at("reward");
  const double seconds = points.back().seconds - points.front().seconds;
  row.steps_a_second = static_cast<double>(points.back().step - points.front().step) / seconds;
  row.points_a_second =
      static_cast<double>((config.generations - 1) * 2 * static_cast<std::uint64_t>(config.pairs)) / seconds;
}

// A search in processes of its own.
class Search {
 public:
  explicit Search(const Config& config) : row_{.workers = config.workers, .parameters = config.parameters} {
    row_.noise = config.noise == lp::NoiseKind::table ? "table" : "counter";
    lp::LaunchOptions options{.launch = lp::LaunchType::processes,
                              .entry = "evolution",
                              .configuration = lp::to_yaml(config),
                              .directory = directory_.path() / "run"};
    options.seed = 1;
    options.report = [this, config](lp::Run& run) {
      measure_calls(run, row_, config.generations);
      measure_time(run, row_, config);
    };
    run_.emplace(make_program(config), options);
  }
  Row row() {
    if (!run_->wait().success) throw lp::Error(lp::ErrorKind::failed, run_->wait().cause.text());
    return row_;
  }

 private:
  const lp::test::Directory directory_{};
  Row row_;
  std::optional<lp::Run> run_{};  // last: its report uses the others
};

void print(const Row& row) {
  std::fprintf(stderr, "| %s | %s | %d | %.0f | %.0f | %.2f | %.1f | %.0f | %.1f |\n",
               row.parameters == 0 ? "CartPole" : std::to_string(row.parameters).c_str(), row.noise.c_str(),
               row.workers, row.points_a_second, row.steps_a_second, row.efficiency, row.bytes_a_point,
               row.bytes_a_generation, row.calls_a_generation);
}

// Two workers of one search beside one worker each of two searches that run at the same time, which do not wait for one
// another: so other work of the machine does not count. The median of several runs.
std::vector<Row> by_workers(bool quick) {
  const Config one{.workers = 1, .generations = quick ? 10U : 40U, .pairs = quick ? 8 : 1024};
  Config two = one;
  two.workers = 2;
  std::vector<Row> rows;
  for (int i = 0; i < (quick ? 1 : 7); ++i) {
    Search first(one);
    Search second(one);
    const double apart = first.row().points_a_second + second.row().points_a_second;
    rows.push_back(Search(two).row());
    rows.back().efficiency = rows.back().points_a_second / apart;
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.efficiency < b.efficiency; });
  const std::vector<Row> out = {Search(one).row(), rows[rows.size() / 2]};
  for (const Row& row : out) print(row);
  return out;
}

std::vector<Row> by_parameters(bool quick) {
  std::vector<Row> rows;
  for (const lp::NoiseKind noise : {lp::NoiseKind::table, lp::NoiseKind::counter}) {
    for (const std::uint64_t parameters : {1'000U, 10'000U, 100'000U, 1'000'000U}) {
      if (quick && parameters > 100'000) continue;
      rows.push_back(
          Search({.workers = 2, .parameters = parameters, .noise = noise, .generations = 5, .pairs = 32}).row());
      print(rows.back());
    }
  }
  return rows;
}

// How many trials a call has depends on the moment, and so does the share of the calls' heads.
bool independent_of_parameters(const std::vector<Row>& rows) {
  const auto [least, most] = std::minmax_element(
      rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.bytes_a_point < b.bytes_a_point; });
  return most->bytes_a_point < 1.5 * least->bytes_a_point;
}

}  // namespace

int main(int argc, char** argv) {
  const lp::Programs programs = lp::Programs().add<Config>("evolution", make_program);
  if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;
  const bool quick = argc > 1 && std::string(argv[1]) == "--quick";
  std::fprintf(stderr,
               "| parameters | noise | workers | points/s | steps/s | efficiency | bytes/point | bytes of a centre | "
               "calls/generation |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  const std::vector<Row> rates = by_workers(quick);
  const std::vector<Row> bytes = by_parameters(quick);
  lp::JsonWriter json;
  json.begin_array();
  for (const Row& row : rates) json.json(lp::to_json(row));
  for (const Row& row : bytes) json.json(lp::to_json(row));
  json.end_array();
  std::printf("%s\n", std::move(json).text().c_str());
  if (independent_of_parameters(bytes)) return 0;
  std::fprintf(stderr, "the bytes of an evaluation depend on the number of parameters\n");
  return 1;
}
