// Serves a network that learns to read digits meanwhile. Servers answer in batches, each by one version of the network.
// Clients send more and more requests, and in the end three times as many as the servers can answer.
//
//   client/0 ─┬─▶ server/0 ─┬─▶ trainer
//   client/1 ─┼─▶ server/1 ─┘
//             └─▶ reports
//
//   build/examples/inference --launch=processes --replicas=2 --plot=inference.svg

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "launchers/main.h"
#include "lp/draw/chart.h"
#include "lp/lp.h"
#include "lp/wire/eigen.h"
#include "nodes/gather.h"
#include "nodes/serving/balancer.h"
#include "nodes/serving/load.h"
#include "nodes/serving/published_server.h"
#include "programs/data/batches.h"
#include "programs/models/mlp.h"

struct Config {
  int replicas = 2;
  int clients = 2;
  int batch = 32;
  double seconds = 0.5;
  int milliseconds = 20;
  std::string plot{};

  static constexpr auto fields =
      lp::fields(lp::field("replicas", "nodes that answer", lp::range(1, 64)),
                 lp::field("clients", "nodes that send requests", lp::range(1, 64)),
                 lp::field("batch", "the most requests that a server puts into one batch", lp::range(1, 1024)),
                 lp::field("seconds", "how long each load is measured", lp::at_least(0.05)),
                 lp::field("milliseconds", "deadline of each request when the load is too high", lp::range(1, 10'000)),
                 lp::field("plot", "draw answers per second over waiting requests into this SVG file"));
};

struct Row {                    // the result of one load
  std::uint64_t under_way = 0;  // requests; 0: three times as many a second as were answered before
  double answers = 0;           // a second
  double p50 = 0;               // milliseconds
  double p99 = 0;
  double shed = 0;     // share of the requests that got `overloaded`
  double late = 0;     // share that got no answer in time
  double failed = 0;   // share that got another error
  double correct = 0;  // share of the answers
};
struct Part {  // one client of a load
  lp::LoadReport report{};
  std::uint64_t correct = 0;
};
using Reports = lp::Gather<Part>;

const lp::Mlp kModel({64, 1024, 1024, 10}, lp::Activation::tanh);

// Publishes the network again and again while it learns.
class Trainer {
 public:
  explicit Trainer(lp::Context& node)
      : data_(lp::split(lp::digits(), node.program_seed()).train),
        batches_(static_cast<std::uint32_t>(data_.examples()), kBatch, node.program_seed()),
        parameters_(kModel.initialize(node.program_seed())) {
    publish();
  }
  void run(lp::Context& node) {
    Eigen::VectorXf gradient(kModel.size());
    for (std::uint64_t step = 0; node.wait_for(std::chrono::milliseconds(20)); ++step) {
      kModel.loss(parameters_, lp::gather(data_, batches_.batch(step)), gradient);
      parameters_ -= 0.2F / kBatch * gradient;
      publish();
    }
  }
  lp::Published<lp::Array<float>> weights{};
  using Remote = lp::Methods<&Trainer::weights>;

 private:
  static constexpr std::uint32_t kBatch = 64;

  void publish() {
    weights.publish(lp::Array<float>::copy_of({parameters_.data(), static_cast<std::size_t>(parameters_.size())}));
  }
  const lp::Dataset data_;
  lp::Batches batches_;
  Eigen::VectorXf parameters_;
};

using Server = lp::PublishedServer<&Trainer::weights, Eigen::VectorXf, int>;
using Service = lp::InferenceServer<Eigen::VectorXf, int>;

Server::Model model_by(const lp::Version<lp::Array<float>>& weights) {
  const Eigen::VectorXf parameters = Eigen::Map<const Eigen::VectorXf>(weights->data(), kModel.size());
  const auto answer = [parameters](const std::vector<Eigen::VectorXf>& images) {
    Eigen::MatrixXf batch(64, static_cast<Eigen::Index>(images.size()));
    for (std::size_t i = 0; i < images.size(); ++i) batch.col(static_cast<Eigen::Index>(i)) = images[i];
    const Eigen::MatrixXf scores = kModel.scores(parameters, batch);
    std::vector<int> digits(images.size());
    for (std::size_t i = 0; i < images.size(); ++i) scores.col(static_cast<Eigen::Index>(i)).maxCoeff(&digits[i]);
    return digits;
  };
  return {.version = weights.number(), .answer = answer};
}

class Asker {
 public:
  Asker(lp::Clients<Service> servers, lp::Client<Reports> reports, int index, const Config& config)
      : servers_(servers), reports_(reports), index_(static_cast<std::uint32_t>(index)), config_(config) {}

  void run(lp::Context& node) {
    const lp::Dataset test = lp::split(lp::digits(), node.program_seed()).test;
    double most = 0;
    const std::vector<std::uint64_t> loads{1, 4, 16, 64, 0};
    for (std::uint64_t round = 0; round < loads.size(); ++round) {
      lp::RequestLoad options{
          .length = lp::from_seconds(config_.seconds), .under_way = loads[round], .seed = node.seed()};
      if (loads[round] == 0) options.rate = 3 * most / config_.clients, options.under_way = 10'000;
      const auto servers =
          loads[round] == 0 ? servers_.within(std::chrono::milliseconds(config_.milliseconds)) : servers_;
      Part part;
      part.report = lp::drive_load(
          options,
          [&](std::uint64_t i) {
            return servers.async<&Service::ask>(test.features.col(static_cast<Eigen::Index>(i) % test.examples()), 0U);
          },
          [&](std::uint64_t i, const lp::Answer<int>& answer) {
            part.correct += answer.value == test.labels(static_cast<Eigen::Index>(i) % test.examples());
          });
      Part all;
      for (const Part& one : reports_.call<&Reports::gather>(index_, round, part)) {
        all.report.add(one.report);
        all.correct += one.correct;
      }
      most = std::max(most, all.report.rate());
      const Row row = row_of(all, loads[round] * static_cast<std::uint64_t>(config_.clients));
      node.exclusive([&] { rows_.push_back(row); });
      node.report({.step = round + 1, .total = loads.size(), .values = {{"answers_a_second", row.answers}}});
    }
  }
  std::vector<Row> rows() const { return rows_; }
  using Remote = lp::Methods<&Asker::rows>;

 private:
  static Row row_of(const Part& all, std::uint64_t under_way) {
    const lp::LoadReport& report = all.report;
    return {
        .under_way = under_way,
        .answers = report.rate(),
        .p50 = report.quantile(0.5),
        .p99 = report.quantile(0.99),
        .shed = report.share(report.refused),
        .late = report.share(report.late),
        .correct = static_cast<double>(all.correct) / static_cast<double>(std::max<std::uint64_t>(report.answered, 1))};
  }

  const lp::Balancer<Service> servers_;
  const lp::Client<Reports> reports_;
  const std::uint32_t index_;
  const Config config_;
  std::vector<Row> rows_{};
};

lp::Program make_program(const Config& config) {
  lp::Program program("inference");
  const auto trainer = program.add<Trainer>({.name = "trainer", .on_failure = lp::restart(3)}, lp::context);
  const lp::ServingOptions serving{.batch = {.most = static_cast<std::size_t>(config.batch)}};
  const lp::GroupOptions servers{.name = "server", .replicas = config.replicas, .on_failure = lp::restart(3)};
  const lp::GroupHandle<Service> group = program.group<Server>(servers, trainer, model_by, serving);
  const auto reports = program.add<Reports>({.name = "reports"}, config.clients);
  program.group<Asker>({.name = "client", .replicas = config.clients, .ends_program = true}, group, reports, lp::index,
                       config);
  return program;
}

struct Result {
  std::vector<Row> rows{};
  std::vector<double> mean_batch{};       // by server
  std::vector<std::uint64_t> versions{};  // that each server has taken over
};

Result report(lp::Run& run, const Config& config) {
  Result result{.rows = run.client<Asker>("client/0").call<&Asker::rows>()};
  lp::Curve curve{.name = "answers a second"};
  std::puts("under way  answers/s  p50 ms  p99 ms   shed   late  correct");
  for (const Row& row : result.rows) {
    const std::string load = row.under_way == 0 ? "3x" : std::to_string(row.under_way);
    std::printf("%9s %10.0f %7.2f %7.2f %5.1f%% %5.1f%% %7.1f%%\n", load.c_str(), row.answers, row.p50, row.p99,
                100 * row.shed, 100 * row.late, 100 * row.correct);
    if (row.under_way > 0) curve.points.push_back({static_cast<double>(row.under_way), row.answers});
  }
  for (const auto& server : run.clients<Server>("server").all<&Service::statistics>()) {
    result.mean_batch.push_back(server.mean_batch());
    result.versions.push_back(server.versions);
  }
  if (!config.plot.empty()) {
    const lp::Chart chart{.title = "inference", .curves = {std::move(curve)}, .x = "waiting requests"};
    lp::write_charts(config.plot, {&chart, 1});
  }
  return result;
}

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report); }
