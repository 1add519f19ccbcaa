// ps_bench [KEYS [MEBIBYTES]]: push and pull of sparse keys (8 bytes, and 4 of a value, sorted) and of a dense tensor,
// with the update applied, as a table on standard error and as JSON on standard output. A figure is the median of five,
// for the slowest worker, after a warm-up that creates the rows.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "launchers/programs.h"
#include "launchers/run.h"
#include "lp/base/json.h"
#include "lp/base/random.h"
#include "nodes/parameters/parameter_client.h"

namespace {

struct Config {
  int servers = 1;
  int workers = 1;
  bool sparse = true;
  std::uint64_t keys = 10'000'000;
};

struct Times {
  double first_push = 0;  // for a list that the servers do not know
  double push = 0;
  double pull = 0;
};

std::vector<lp::Tensor> tensors_of(const Config& config) {
  const auto servers = static_cast<std::uint32_t>(config.servers);
  return {{.partition = lp::Partition::ring(config.sparse ? 0 : config.keys, servers), .sparse = config.sparse}};
}

// The same keys in all workers, spread over 64 bits.
lp::Array<std::uint64_t> sorted_keys(std::uint64_t count) {
  auto keys = lp::Array<std::uint64_t>::uninitialized(count);
  lp::Random random(1, "keys");
  const std::uint64_t gap = ~std::uint64_t{0} / count;
  std::uint64_t key = 0;
  for (std::uint64_t& one : keys.edit()) {
    one = key + random() % gap;
    key += gap;
  }
  return keys;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Worker {
 public:
  Worker(lp::Clients<lp::ParameterService> servers, const Config& config)
      : servers_(std::move(servers)), config_(config) {}

  void run(lp::Context& node) {
    lp::ParameterClient client(servers_, tensors_of(config_), {.worker = static_cast<std::uint32_t>(node.index())});
    const lp::Array<std::uint64_t> keys = config_.sparse ? sorted_keys(config_.keys) : lp::Array<std::uint64_t>();
    std::vector<float> to(config_.keys);
    const std::vector<float> ones(config_.keys, 1.0F);
    std::uint64_t clock = 0;
    const auto push = [&](const lp::Array<std::uint64_t>& list) {
      const auto gradient =
          config_.sparse ? lp::Array<float>::copy_of(std::span(ones).first(list.size())) : lp::Array<float>();
      const lp::Time start = lp::now();
      client.wait(config_.sparse ? client.start_push_rows(0, clock++, list, gradient, 1)
                                 : client.start_push(0, clock++, ones, 1));
      return std::chrono::duration<double>(lp::now() - start).count();
    };
    push(keys);
    std::vector<double> first;
    std::vector<double> pushes;
    std::vector<double> pulls;
    for (int i = 0; i < 5; ++i) {
      if (config_.sparse) {  // one key less: another list, whose rows are there
        first.push_back(
            push(lp::Array<std::uint64_t>::copy_of(keys.span().first(keys.size() - 1 - static_cast<std::size_t>(i)))));
      }
    }
    push(keys);
    for (int i = 0; i < 5; ++i) {
      pushes.push_back(push(keys));
      const lp::Time start = lp::now();
      client.wait(config_.sparse ? client.start_pull_rows(0, clock, keys, to) : client.start_pull(0, clock, to));
      pulls.push_back(std::chrono::duration<double>(lp::now() - start).count());
    }
    node.exclusive([&] {
      times_ = {.first_push = first.empty() ? 0 : median(first), .push = median(pushes), .pull = median(pulls)};
    });
  }
  Times times() const { return times_; }
  using Remote = lp::Methods<&Worker::times>;

 private:
  lp::Clients<lp::ParameterService> servers_;
  Config config_;
  Times times_{};
};

lp::Program make_program(const Config& config) {
  lp::Program program("ps");
  const lp::ParameterServerOptions options{.shard = {.rule = lp::Sgd{},
                                                     .consistency = lp::Asynchronous{},
                                                     .workers = static_cast<std::uint32_t>(config.workers)}};
  auto servers = program.group<lp::ParameterServer>({.name = "server", .replicas = config.servers}, lp::context,
                                                    tensors_of(config), options,
                                                    lp::GroupHandle<lp::ParameterServer>("server", 0));
  program.group<Worker>({.name = "worker", .replicas = config.workers, .ends_program = true},
                        lp::GroupHandle<lp::ParameterService>(servers), config);
  return program;
}

double memcpy_seconds(std::size_t bytes) {
  std::vector<char> from(bytes, 1);
  std::vector<char> to(bytes);
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const lp::Time start = lp::now();
    std::memcpy(to.data(), from.data(), bytes);
    times.push_back(std::chrono::duration<double>(lp::now() - start).count());
  }
  return median(times);
}

struct Row {
  std::string launch{};
  int servers = 0;
  int workers = 0;
  bool sparse = false;
  double first_push_ms = 0;
  double push_ms = 0;
  double pull_ms = 0;
  double push_million_keys_a_second = 0;  // over all workers
  double push_gigabytes_a_second = 0;     // keys and values of all workers, as if the keys were sent
  double memcpy_share = 0;                // share of push_ms that one copy of these bytes takes
};

}  // namespace

int main(int argc, char** argv) {
  const lp::Programs programs = lp::Programs().add<Config>("ps", make_program);
  if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;
  const std::uint64_t keys = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  const std::uint64_t dense = (argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 64) << 18;
  if (keys == 0 || dense == 0) {
    std::fprintf(stderr, "usage: ps_bench [SPARSE-KEYS [DENSE-MIB]], both at least 1\n");
    return 2;
  }
  std::fprintf(stderr, "%-10s %-7s %8s %8s %12s %9s %9s %10s %7s %7s\n", "launch", "tensor", "servers", "workers",
               "new list ms", "push ms", "pull ms", "M keys/s", "GB/s", "memcpy");
  lp::JsonWriter json;
  json.begin_array();
  bool success = true;
  for (const lp::LaunchType launch : {lp::LaunchType::threads, lp::LaunchType::processes}) {
    for (const bool sparse : {true, false}) {
      for (const auto& [servers, workers] : {std::pair(1, 1), {2, 1}, {1, 2}, {2, 4}}) {
        const Config config{servers, workers, sparse, sparse ? keys : dense};
        lp::LaunchOptions options{.launch = launch, .entry = "ps", .configuration = lp::to_yaml(config)};
        Row row{.launch = launch == lp::LaunchType::threads ? "threads" : "processes",
                .servers = servers,
                .workers = workers,
                .sparse = sparse};
        options.report = [&, workers = workers](lp::Run& run) {
          for (const Times& one : run.client(lp::GroupHandle<Worker>("worker", workers)).all<&Worker::times>()) {
            row.first_push_ms = std::max(row.first_push_ms, one.first_push * 1e3);
            row.push_ms = std::max(row.push_ms, one.push * 1e3);
            row.pull_ms = std::max(row.pull_ms, one.pull * 1e3);
          }
        };
        lp::Run run(make_program(config), options);
        if (!run.wait().success) {
          std::fprintf(stderr, "failed: %s\n", run.wait().cause.text().c_str());
          success = false;
          continue;
        }
        const double bytes = static_cast<double>(config.keys) * (sparse ? 12 : 4) * workers;
        row.push_million_keys_a_second = static_cast<double>(config.keys) * workers / row.push_ms / 1e3;
        row.push_gigabytes_a_second = bytes / row.push_ms / 1e6;
        row.memcpy_share =
            memcpy_seconds(static_cast<std::size_t>(bytes) / static_cast<std::size_t>(workers)) * 1e3 / row.push_ms;
        std::fprintf(stderr, "%-10s %-7s %8d %8d %12.0f %9.1f %9.1f %10.1f %7.2f %6.0f%%\n", row.launch.c_str(),
                     sparse ? "sparse" : "dense", servers, workers, row.first_push_ms, row.push_ms, row.pull_ms,
                     row.push_million_keys_a_second, row.push_gigabytes_a_second, 100 * row.memcpy_share);
        json.json(lp::to_json(row));
      }
    }
  }
  json.end_array();
  std::printf("%s\n", std::move(json).text().c_str());
  return success ? 0 : 1;
}
