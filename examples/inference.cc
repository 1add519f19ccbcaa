// Serves the policy of an agent that learns meanwhile. Servers answer in batches, each by one version of the policy.
// Clients play by the answers, in more and more copies of the environment. In the end they send three times as many
// requests as the servers can answer.
//
//   client/0 ─┬─▶ server/0 ─┬─▶ learner ◀─ actor/0
//   client/1 ─┼─▶ server/1 ─┘
//             └─▶ reports
//
//   build/examples/inference --environment=acrobot --launch=processes --replicas=2 --plot=inference.svg

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "launchers/main.h"
#include "lp/base/file.h"
#include "lp/draw/chart.h"
#include "lp/lp.h"
#include "nodes/serving/balancer.h"
#include "nodes/serving/load_generator.h"
#include "programs/agents/ppo.h"
#include "programs/environments/environment_batch.h"
#include "programs/environments/environments.h"
#include "programs/experiments/experiment.h"
#include "programs/experiments/policy_server.h"

using namespace lp::literals;

struct Config {
  std::string environment = "cartpole";
  int replicas = 2;
  int clients = 2;
  int copies = 256;
  int batch = 32;
  double seconds = 0.5;
  int milliseconds = 20;
  std::string plot{};

  static constexpr auto fields =
      lp::fields(lp::field("environment", "acrobot, cartpole, catch, mountaincar or pendulum"),
                 lp::field("replicas", "nodes that answer", lp::range(1, 64)),
                 lp::field("clients", "nodes that send requests", lp::range(1, 64)),
                 lp::field("copies", "copies of the environment whose actions are one request", lp::range(1, 4096)),
                 lp::field("batch", "the most requests that a server puts into one batch", lp::range(1, 1024)),
                 lp::field("seconds", "how long each load is measured", lp::at_least(0.05)),
                 lp::field("milliseconds", "deadline of each request when the load is too high", lp::range(1, 10'000)),
                 lp::field("plot", "draw answers per second over waiting requests into this SVG file"));

  lp::MakeEnvironment make() const {
    return [name = environment] { return lp::make_environment(name); };
  }
};

struct Row {                    // the result of one load
  std::uint64_t under_way = 0;  // requests; 0: three times as many a second as were answered before
  double answers = 0;           // a second
  double p50 = 0;               // milliseconds
  double p99 = 0;
  double shed = 0;                 // share of the requests that got `overloaded`
  double late = 0;                 // share that got no answer in time
  double failed = 0;               // share that got another error
  std::optional<double> reward{};  // mean of the episodes that ended; nothing: none has
};
struct Part {  // one client of a load
  lp::LoadReport report{};
  std::uint64_t episodes = 0;
  double rewards = 0;
};
struct Load {
  std::uint64_t number = 0;
  double most = 0;  // answers a second that the servers have given so far
};
const std::vector<std::uint64_t> kLoads{1, 4, 16, 64, 0};  // requests under way of a client; 0: three times too many

// Has the results of the loads. A client that is restarted sends the present load again.
class Reports {
 public:
  explicit Reports(int clients) : clients_(static_cast<std::size_t>(clients)) {}

  // Takes a client's part of a load, if it has one, and returns the next load when every client has given its part.
  lp::Future<Load> next(std::uint32_t client, std::uint64_t number, std::optional<Part> part) {
    if (part && number == rows_.size()) parts_.insert_or_assign(client, *std::move(part));
    lp::Future<Load> load = waiting_.insert_or_assign(client, lp::Promise<Load>()).first->second.future();
    if (parts_.size() == clients_) end_load();
    if (!parts_.contains(client)) begin(client);
    return load;
  }
  std::vector<Row> rows() const { return rows_; }
  using Remote = lp::Methods<lp::deadline<&Reports::next, 600_s>, &Reports::rows>;

 private:
  void begin(std::uint32_t client) {
    if (const auto found = waiting_.find(client); found != waiting_.end()) {
      found->second.set_value({rows_.size(), most_});
      waiting_.erase(found);
    }
  }
  void end_load() {
    Part all;
    for (const auto& [client, part] : parts_) {
      all.report.add(part.report);
      all.episodes += part.episodes;
      all.rewards += part.rewards;
    }
    const std::uint64_t under_way = kLoads[rows_.size()] * clients_;
    most_ = std::max(most_, all.report.rate());
    Row row{.under_way = under_way,
            .answers = all.report.rate(),
            .p50 = all.report.quantile(0.5),
            .p99 = all.report.quantile(0.99),
            .shed = all.report.share(all.report.refused),
            .late = all.report.share(all.report.late),
            .failed = all.report.share(all.report.failed)};
    if (all.episodes > 0) row.reward = all.rewards / static_cast<double>(all.episodes);
    rows_.push_back(row);
    for (const auto& [client, part] : std::exchange(parts_, {})) begin(client);
  }

  const std::size_t clients_;
  double most_ = 0;
  std::vector<Row> rows_{};
  std::map<std::uint32_t, Part> parts_{};  // the present load's
  std::map<std::uint32_t, lp::Promise<Load>> waiting_{};
};
using Service = lp::PolicyService;

// Plays in copies of the environment, as many at a time as there are requests. Thread-safe. Requests share it with
// run(), which may end before them when the program is stopped.
class Players : public std::enable_shared_from_this<Players> {
 public:
  Players(const Config& config, std::uint64_t seed) : config_(config), seed_(seed) {}

  // Sends the observations of copies that wait for no answer, and lets them act by the answer.
  lp::Future<lp::Answer<lp::Choice>> ask(const lp::Balancer<Service>& servers, std::uint64_t number) {
    Copies copies = take();
    const lp::Observed observed{.observations = copies->observations(), .seed = number};
    return servers.async<&Service::ask>(observed, 0U)
        .then([self = shared_from_this(), copies = std::move(copies)](auto reply) mutable {
          const Copies mine = std::move(copies);  // they go back here, also after an error
          lp::Answer<lp::Choice> choice = reply.get();
          mine->step(choice.value.actions);
          self->count(mine->finished());
          return choice;
        });
  }
  // Adds the episodes that have ended since the last call.
  void add_episodes(Part& part) {
    const std::lock_guard lock(mutex_);
    part.episodes += std::exchange(episodes_, 0);
    part.rewards += std::exchange(rewards_, 0);
  }

 private:
  struct GiveBack {
    std::shared_ptr<Players> players;
    void operator()(lp::EnvironmentBatch* copies) const { players->give_back(copies); }
  };
  using Copies = std::unique_ptr<lp::EnvironmentBatch, GiveBack>;

  Copies take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      const auto copies = static_cast<std::size_t>(config_.copies);
      all_.push_back(std::make_unique<lp::EnvironmentBatch>(config_.make(), copies, seed_ + all_.size()));
      free_.push_back(all_.back().get());
    }
    lp::EnvironmentBatch* const copies = free_.back();
    free_.pop_back();
    return {copies, {shared_from_this()}};
  }
  void give_back(lp::EnvironmentBatch* copies) {
    const std::lock_guard lock(mutex_);
    free_.push_back(copies);
  }
  void count(std::span<const lp::FinishedEpisode> episodes) {
    const std::lock_guard lock(mutex_);
    for (const lp::FinishedEpisode& one : episodes) ++episodes_, rewards_ += one.reward;
  }

  const Config config_;
  const std::uint64_t seed_;
  std::mutex mutex_{};
  std::vector<std::unique_ptr<lp::EnvironmentBatch>> all_{};
  std::vector<lp::EnvironmentBatch*> free_{};
  std::uint64_t episodes_ = 0;
  double rewards_ = 0;
};

class Asker {
 public:
  Asker(lp::Clients<Service> servers, lp::Client<Reports> reports, int index, const Config& config)
      : servers_(servers), reports_(reports), index_(static_cast<std::uint32_t>(index)), config_(config) {}

  void run(lp::Context& node) {
    const auto players = std::make_shared<Players>(config_, node.seed());
    for (Load load = next(0, {}); load.number < kLoads.size();) {
      const std::uint64_t under_way = kLoads[load.number];
      lp::RequestLoad options{.length = lp::from_seconds(config_.seconds), .under_way = under_way, .seed = node.seed()};
      if (under_way == 0) options.rate = 3 * load.most / config_.clients, options.under_way = 10'000;
      const auto servers = under_way == 0 ? servers_.within(std::chrono::milliseconds(config_.milliseconds)) : servers_;
      Part part;
      part.report = lp::drive_load(
          options, [&](std::uint64_t number) { return players->ask(servers, number); },
          [](std::uint64_t, const auto&) {});
      players->add_episodes(part);
      load = next(load.number, part);
      node.report({.step = load.number, .total = kLoads.size(), .values = {{"answers_a_second", part.report.rate()}}});
    }
  }

 private:
  Load next(std::uint64_t number, const std::optional<Part>& part) {
    try {
      return reports_.call<&Reports::next>(index_, number, part);
    } catch (const lp::Error& error) {
      if (error.kind() != lp::ErrorKind::disconnected) throw;
      return next(0, {});  // they are restarted, and begin with the first load
    }
  }

  const lp::Balancer<Service> servers_;
  const lp::Client<Reports> reports_;
  const std::uint32_t index_;
  const Config config_;
};

lp::Experiment experiment(const Config& config) {
  const auto network = lp::dense_network({128, 128}, lp::Unit::tanh, 0.01F);
  return {.agent = lp::ppo({.policy = network, .copies = 16}),
          .environment = config.make(),
          .actors = 1,
          .steps = lp::kEndless,  // the clients end the program
          .restarts = 3};
}

lp::Program make_program(const Config& config) {
  lp::Program program("inference");
  const lp::Experiment learning = experiment(config);
  const auto learner = lp::add_experiment(program, learning).learner;
  const lp::ServingOptions serving{.batch = {.most = static_cast<std::size_t>(config.batch)}};
  const lp::GroupOptions servers{.name = "server", .replicas = config.replicas, .on_failure = lp::restart(3)};
  const lp::GroupHandle<Service> group = program.group<lp::PolicyServer>(
      servers, learner, lp::exploring(learning.agent.policy, learning.environment), serving);
  const auto reports = program.add<Reports>({.name = "reports", .on_failure = lp::restart(3)}, config.clients);
  const lp::GroupOptions clients{
      .name = "client", .replicas = config.clients, .on_failure = lp::restart(3), .ends_program = true};
  program.group<Asker>(clients, group, reports, lp::index, config);
  return program;
}

struct Result {
  std::vector<Row> rows{};
  std::vector<double> mean_batch{};       // by server
  std::vector<std::uint64_t> versions{};  // that each server has taken over
};

Result report(lp::Run& run, const Config& config) {
  Result result{.rows = run.client<Reports>("reports").call<&Reports::rows>()};
  lp::Curve curve{.name = "answers a second"};
  std::puts("under way  answers/s  p50 ms  p99 ms   shed   late  reward");
  for (const Row& row : result.rows) {
    const std::string load = row.under_way == 0 ? "3x" : std::to_string(row.under_way);
    std::printf("%9s %10.0f %7.2f %7.2f %5.1f%% %5.1f%%", load.c_str(), row.answers, row.p50, row.p99, 100 * row.shed,
                100 * row.late);
    row.reward ? std::printf(" %7.1f\n", *row.reward) : std::printf("       -\n");
    if (row.under_way > 0) curve.points.push_back({static_cast<double>(row.under_way), row.answers});
  }
  for (const auto& server : run.clients<lp::PolicyServer>("server").all<&Service::statistics>()) {
    result.mean_batch.push_back(server.mean_batch());
    result.versions.push_back(server.versions);
  }
  if (!config.plot.empty()) {
    const lp::Chart chart{.title = "inference", .curves = {std::move(curve)}, .x = "waiting requests"};
    lp::write_charts(config.plot, {&chart, 1});
  }
  return result;
}

void prepare(const Config& config) {
  lp::check_environment(experiment(config));
  if (!config.plot.empty()) lp::check_output_file("--plot", config.plot);
}

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report, prepare); }
