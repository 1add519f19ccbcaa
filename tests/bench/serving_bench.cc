// What an inference server answers: by the most requests of a batch, and under up to three times the load that it can
// carry, where each request has so many milliseconds.
//
//   serving_bench [--quick]    prints tables on standard error and JSON on standard output
//
// The server finds the nearest of many vectors, which it reads from memory once for each batch. It is a process of its
// own; this process sends the requests.

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "launchers/programs.h"
#include "launchers/test_run.h"
#include "lp/base/json.h"
#include "lp/base/random.h"
#include "lp/wire/eigen.h"
#include "nodes/serving/balancer.h"
#include "nodes/serving/load_generator.h"
#include "nodes/serving/published_server.h"

namespace {

constexpr Eigen::Index kVectors = 1 << 18;
constexpr Eigen::Index kWidth = 32;
constexpr Eigen::Index kBlock = 512;  // vectors that fit into a core's cache

struct Config {
  int batch = 1;
  static constexpr int kMilliseconds = 200;  // that a request has under too much load
};

// Publishes the one version there is.
class Weights {
 public:
  Weights() { seed.publish(1); }
  lp::Published<std::uint64_t> seed;
  using Remote = lp::Methods<&Weights::seed>;
};

using Request = Eigen::VectorXf;
using Reply = std::int64_t;
using Service = lp::InferenceServer<Request, Reply>;
using Server = lp::PublishedServer<&Weights::seed, Request, Reply>;

Eigen::MatrixXf random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  lp::Random random(seed, "vectors");
  return Eigen::MatrixXf::NullaryExpr(rows, columns, [&] { return static_cast<float>(2 * random.uniform() - 1); });
}

// The vector with the largest product with each request.
std::vector<Reply> nearest(const std::vector<Eigen::MatrixXf>& blocks, const std::vector<Request>& requests) {
  const auto size = static_cast<Eigen::Index>(requests.size());
  Eigen::MatrixXf batch(kWidth, size);
  for (Eigen::Index i = 0; i < size; ++i) batch.col(i) = requests[static_cast<std::size_t>(i)];
  std::vector<Reply> best(requests.size());
  std::vector<float> most(requests.size(), -1e9F);
  Eigen::MatrixXf products;
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    products.noalias() = blocks[block] * batch;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      Eigen::Index at = 0;
      const float product = products.col(static_cast<Eigen::Index>(i)).maxCoeff(&at);
      if (product <= most[i]) continue;
      most[i] = product;
      best[i] = static_cast<Reply>(block) * kBlock + at;
    }
  }
  return best;
}

Server::Model model_of(const lp::Version<std::uint64_t>& version) {
  std::vector<Eigen::MatrixXf> blocks;
  for (Eigen::Index block = 0; block < kVectors / kBlock; ++block) {
    blocks.push_back(random_matrix(kBlock, kWidth, *version + static_cast<std::uint64_t>(block)));
  }
  return {.version = version.number(),
          .answer = [blocks](const std::vector<Request>& requests) { return nearest(blocks, requests); }};
}

lp::Program make_program(const Config& config) {
  lp::Program program("serving");
  const auto weights = program.add<Weights>({.name = "weights"});
  const lp::ServingOptions serving{.batch = {.most = static_cast<std::size_t>(config.batch)}};
  program.add<Server>({.name = "server"}, weights, model_of, serving);
  return program;
}

struct Row {
  int batch = 0;          // requests at most
  double load = 0;        // times what the server can answer; 0: as many requests as fill two batches
  double mean_batch = 0;  // requests
  double answers_a_second = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  double worst_ms = 0;
  double shed = 0;  // share that got `overloaded`
  double late = 0;  // share that got no answer in time
};

class Measured {
 public:
  Measured(int batch, double seconds)
      : batch_(batch),
        seconds_(seconds),
        run_(make_program({batch}), options(batch)),
        server_(run_.client<Server>("server")) {
    drive({.length = lp::from_seconds(seconds / 2), .under_way = 2 * static_cast<std::size_t>(batch)}, server_);
  }

  // As many requests as fill two batches: the median of three runs.
  Row full() {
    std::vector<Row> rows;
    for (int run = 0; run < 3; ++run) {
      rows.push_back(
          drive({.length = lp::from_seconds(seconds_), .under_way = 2 * static_cast<std::size_t>(batch_)}, server_));
    }
    std::sort(rows.begin(), rows.end(),
              [](const Row& one, const Row& other) { return one.answers_a_second < other.answers_a_second; });
    return rows[1];
  }
  // So many times as many as `capacity` a second.
  Row loaded(double times, double capacity) {
    const auto hurried = server_.within(std::chrono::milliseconds(Config::kMilliseconds));
    Row row = drive(
        {.length = lp::from_seconds(2 * seconds_), .rate = times * capacity, .under_way = 100'000, .seed = 1}, hurried);
    row.load = times;
    return row;
  }

 private:
  static lp::LaunchOptions options(int batch) {
    return {.launch = lp::LaunchType::processes, .entry = "serving", .configuration = lp::to_yaml(Config{batch})};
  }
  Row drive(const lp::RequestLoad& load, const lp::Client<Server>& server) {
    const lp::ServingStatistics before = server_.call<&Service::statistics>();
    const lp::LoadReport report = lp::drive_load(
        load,
        [&](std::uint64_t number) {
          return server.async<&Service::ask>(requests_.col(static_cast<Eigen::Index>(number % 256)), 0U);
        },
        [](std::uint64_t, const lp::Answer<Reply>&) {});
    const lp::ServingStatistics after = server_.call<&Service::statistics>();
    const auto batches = static_cast<double>(std::max<std::uint64_t>(after.batches - before.batches, 1));
    return {.batch = batch_,
            .mean_batch = static_cast<double>(after.answered - before.answered) / batches,
            .answers_a_second = report.rate(),
            .p50_ms = report.quantile(0.5),
            .p99_ms = report.quantile(0.99),
            .worst_ms = report.quantile(1),
            .shed = report.share(report.refused),
            .late = report.share(report.late + report.failed)};
  }

  const Eigen::MatrixXf requests_ = random_matrix(kWidth, 256, 7);
  const int batch_;
  const double seconds_;
  lp::TestRun run_;
  const lp::Client<Server> server_;
};

void print(const Row& row) {
  std::fprintf(stderr, "| %d | %s | %.1f | %.0f | %.2f | %.2f | %.2f | %.1f%% | %.2f%% |\n", row.batch,
               row.load == 0 ? "two batches" : (std::to_string(static_cast<int>(row.load)) + "x").c_str(),
               row.mean_batch, row.answers_a_second, row.p50_ms, row.p99_ms, row.worst_ms, 100 * row.shed,
               100 * row.late);
}

}  // namespace

int main(int argc, char** argv) {
  const lp::Programs programs = lp::Programs().add<Config>("serving", make_program);
  if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;
  const bool quick = argc > 1 && std::string_view(argv[1]) == "--quick";
  const double seconds = quick ? 0.1 : 2;
  std::fprintf(stderr,
               "| most in a batch | load | mean batch | answers/s | p50 ms | p99 ms | worst ms | shed | late |\n"
               "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  lp::JsonWriter json;
  json.begin_array();
  const auto add = [&](const Row& row) {
    print(row);
    json.json(lp::to_json(row));
    return row;
  };
  for (const int batch : {1, 2, 4, 8, 16, 32}) add(Measured(batch, seconds).full());
  Measured server(64, seconds);
  const double capacity = add(server.full()).answers_a_second;
  for (const double times : {1.0, 2.0, 3.0}) add(server.loaded(times, capacity));
  json.end_array();
  std::printf("%s\n", std::move(json).text().c_str());
  return 0;
}
