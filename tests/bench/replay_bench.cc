// replay_bench [--quick]: items a second into and out of a replay table, by writers or samplers in threads and in
// processes of one host, as a table on standard error and as JSON on standard output. For large items it also gives the
// share of a plain memcpy of the same bytes: a writer copies each item once, and a sampler reads each where it lies,
// and copies it into a buffer of its own.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "launchers/programs.h"
#include "launchers/run.h"
#include "lp/base/json.h"
#include "nodes/replay/sampler.h"
#include "nodes/replay/server.h"
#include "nodes/replay/trajectory_writer.h"

namespace {

struct Config {
  int drivers = 1;
  std::uint64_t bytes = 64;  // bytes of an item
  std::uint64_t batch = 256;
  double seconds = 1;
};

constexpr const char* kTable = "items";

std::uint64_t items_in_table(std::uint64_t bytes) {
  constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;
  constexpr std::uint64_t kMost = 200'000;
  return std::clamp<std::uint64_t>(kBytes / bytes, 64, kMost);
}

struct Rate {
  std::uint64_t items = 0;
  double seconds = 0;
};

// Calls f(), which handles `batch` items, until the time is over.
template <class F>
Rate measure(double seconds, std::uint64_t batch, F f) {
  const lp::Time begin = lp::now();
  Rate rate;
  while (rate.seconds < seconds) {
    f();
    rate.items += batch;
    rate.seconds = lp::to_seconds(lp::now() - begin);
  }
  return rate;
}

// Writes and samples when it is asked to.
class Driver {
 public:
  Driver(const lp::Client<lp::replay::Server>& server, const Config& config) : server_(server), config_(config) {}

  void fill() {
    lp::replay::TrajectoryWriter writer(server_, kTable, {.window = 1, .chunk_steps = chunk_steps()});
    const std::vector<float> values(config_.bytes / sizeof(float), 1);
    for (std::uint64_t i = 0; i < items_in_table(config_.bytes); ++i) {
      writer.append(values);
      writer.add_item(1);
    }
    writer.flush();
  }
  Rate write() {
    const auto batch = static_cast<std::uint32_t>(config_.batch);
    lp::replay::TrajectoryWriter writer(server_, kTable,
                                        {.window = 1, .chunk_steps = std::min(batch, chunk_steps()), .batch = batch});
    const std::vector<float> values(config_.bytes / sizeof(float), 1);
    return measure(config_.seconds, config_.batch, [&] {
      for (std::uint64_t i = 0; i < config_.batch; ++i) {
        writer.append(values);
        writer.add_item(1);
      }
      writer.flush();
    });
  }
  Rate sample() {
    // Two batches are on their way while one is read, as with Reverb's sampler in reverb_peer.py.
    lp::replay::Sampler sampler(server_, kTable, {.ahead = 2});
    std::vector<std::byte> to(config_.bytes);
    return measure(config_.seconds, config_.batch, [&] {
      const lp::replay::Batch batch = sampler.sample(config_.batch);
      for (std::size_t i = 0; i < batch.size(); ++i) std::memcpy(to.data(), batch.rows(i).data(), to.size());
    });
  }
  using Remote = lp::Methods<&Driver::fill, &Driver::write, &Driver::sample>;

 private:
  // A chunk of large items has few of them.
  std::uint32_t chunk_steps() const {
    constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 20;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kChunkBytes / config_.bytes, 1, 256));
  }

  const lp::Client<lp::replay::Server> server_;
  const Config config_;
};

lp::Program make_program(const Config& config) {
  lp::Program program("replay");
  lp::replay::TableOptions table{.name = kTable};
  table.columns = {lp::replay::column<float>("values", static_cast<std::uint32_t>(config.bytes / sizeof(float)))};
  table.max_items = items_in_table(config.bytes);
  const auto server =
      program.add<lp::replay::Server>({.name = "replay"}, lp::context, lp::replay::ServerOptions{.tables = {table}});
  program.group<Driver>({.name = "driver", .replicas = config.drivers}, server, config);
  return program;
}

struct Row {
  std::string launch{};
  std::uint64_t bytes = 0;
  std::uint64_t batch = 0;
  int drivers = 0;  // writers, then samplers
  double inserts_a_second = 0;
  double samples_a_second = 0;
  double insert_share_of_memcpy = 0;  // items a second times bytes, over the bytes a second of memcpy
  double sample_share_of_memcpy = 0;
};

enum class Copy : std::uint8_t { into_table, out_of_table };

// The bytes a second of copies between a buffer that the cache has and as much memory as a table has.
double memcpy_bytes_a_second(Copy copy, const Config& config) {
  constexpr std::uint64_t kAtATime = 16;
  const std::uint64_t bytes = config.bytes;
  const std::uint64_t items = items_in_table(bytes);
  std::vector<char> table(items * bytes, 1);
  std::vector<char> buffer(bytes, 1);
  std::uint64_t next = 0;
  const Rate rate = measure(config.seconds, kAtATime, [&] {
    for (std::uint64_t i = 0; i < kAtATime; ++i) {
      char* const item = table.data() + (next++ * 7919 % items) * bytes;
      std::memcpy(copy == Copy::into_table ? item : buffer.data(), copy == Copy::into_table ? buffer.data() : item,
                  bytes);
    }
  });
  return static_cast<double>(rate.items * bytes) / rate.seconds;
}

double items_a_second(const std::vector<Rate>& rates) {
  double sum = 0;
  for (const Rate& one : rates) sum += static_cast<double>(one.items) / one.seconds;
  return sum;
}

Row run_one(lp::LaunchType launch, const Config& config) {
  lp::Run run(make_program(config), {.launch = launch, .entry = "replay", .configuration = lp::to_yaml(config)});
  if (!run.wait_ready(std::chrono::seconds(30))) throw lp::Error(lp::ErrorKind::failed, run.wait().cause.text());
  const auto drivers = run.clients<Driver>("driver");
  drivers[0].call<&Driver::fill>();
  Row row{.launch = launch == lp::LaunchType::threads ? "threads" : "processes",
          .bytes = config.bytes,
          .batch = config.batch,
          .drivers = config.drivers};
  row.inserts_a_second = items_a_second(drivers.all<&Driver::write>());
  row.samples_a_second = items_a_second(drivers.all<&Driver::sample>());
  const auto bytes = static_cast<double>(config.bytes);
  row.insert_share_of_memcpy = row.inserts_a_second * bytes / memcpy_bytes_a_second(Copy::into_table, config);
  row.sample_share_of_memcpy = row.samples_a_second * bytes / memcpy_bytes_a_second(Copy::out_of_table, config);
  run.stop("measured");
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  const lp::Programs programs = lp::Programs().add<Config>("replay", make_program);
  if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;
  const bool quick = argc > 1 && std::string(argv[1]) == "--quick";
  const std::vector<int> numbers = quick ? std::vector<int>{1} : std::vector<int>{1, 2, 4, 8};
  std::fprintf(stderr, "%-10s %8s %6s %8s %12s %12s %14s %14s\n", "launch", "bytes", "batch", "drivers", "inserts/s",
               "samples/s", "insert/memcpy", "sample/memcpy");
  lp::JsonWriter json;
  json.begin_array();
  for (const lp::LaunchType launch : {lp::LaunchType::threads, lp::LaunchType::processes}) {
    for (const std::uint64_t bytes : {64U, 4U << 10, 256U << 10}) {
      for (const std::uint64_t batch : {std::uint64_t{1}, std::uint64_t{256}}) {
        for (const int drivers : numbers) {
          const Row row =
              run_one(launch, {.drivers = drivers, .bytes = bytes, .batch = batch, .seconds = quick ? 0.02 : 0.5});
          std::fprintf(stderr, "%-10s %8llu %6llu %8d %12.0f %12.0f %14.2f %14.2f\n", row.launch.c_str(),
                       static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(batch), drivers,
                       row.inserts_a_second, row.samples_a_second, row.insert_share_of_memcpy,
                       row.sample_share_of_memcpy);
          json.json(lp::to_json(row));
        }
      }
    }
  }
  json.end_array();
  std::printf("%s\n", std::move(json).text().c_str());
  return 0;
}
