// One sampler over several servers; batches; and many writers and samplers at once.
#include "nodes/replay/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "lp/program/program.h"
#include "tests/nodes/replay/replay_run.h"

namespace lp::replay {
namespace {

TableOptions queue(std::uint64_t items) { return queue_table("steps", test_columns(), items); }

void insert(TrajectoryWriter& writer, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t number = begin; number < end; ++number) {
    append(writer, number);
    writer.add_item(1);
  }
  writer.flush();
}

std::set<std::uint64_t> numbers(const Batch& batch) {
  std::set<std::uint64_t> all;
  for (std::size_t i = 0; i < batch.size(); ++i) all.insert(number_at(batch, i, 0));
  return all;
}

TEST(ReplaySamplerTest, SeveralServersAreOneTable) {
  ReplayRun replay(queue(100), 3);
  for (int i = 0; i < 3; ++i) {
    TrajectoryWriter writer(replay.clients(), i, "steps");
    insert(writer, static_cast<std::uint64_t>(i) * 10, static_cast<std::uint64_t>(i) * 10 + 10);
  }
  Sampler sampler(replay.clients(), "steps");
  std::set<std::uint64_t> all;
  std::set<std::uint32_t> shards;
  for (int i = 0; i < 3; ++i) {
    const Batch batch = sampler.sample(10);
    EXPECT_EQ(batch.size(), 10U);
    all.merge(numbers(batch));
    for (const std::uint64_t key : batch.keys()) shards.insert(static_cast<std::uint32_t>(key >> 56));
  }
  EXPECT_EQ(all.size(), 30U);
  EXPECT_EQ(shards, (std::set<std::uint32_t>{0, 1, 2}));
}

TEST(ReplaySamplerTest, AServerThatWaitsDoesNotHoldUpTheOthers) {
  ReplayRun replay(queue(100), 2);
  TrajectoryWriter writer(replay.clients(), 1, "steps");  // the other server stays empty
  insert(writer, 0, 20);
  Sampler sampler(replay.clients(), "steps");
  EXPECT_EQ(numbers(sampler.sample(8)).size(), 8U);
  EXPECT_EQ(numbers(sampler.sample(12)).size(), 12U);
}

TEST(ReplaySamplerTest, ARequestThatWaitsTooLongAtAnEmptyServerEndsNoSample) {
  TableOptions options = queue(100);
  options.max_times_sampled = 0;  // without an end
  options.limits = {};
  ReplayRun replay(options, 2);
  TrajectoryWriter writer(replay.clients(), 1, "steps");  // the other server stays empty
  insert(writer, 0, 1);
  constexpr auto kTimeout = std::chrono::milliseconds(300);
  Sampler sampler(replay.clients(), "steps", {.timeout = kTimeout});
  for (const Time end = after(3 * kTimeout); !passed(end);) EXPECT_EQ(sampler.sample(1).size(), 1U);
}

// A node that samples in a handler.
class Asker {
 public:
  explicit Asker(Clients<Server> servers) : servers_(std::move(servers)) {}

  void sample() {
    const Time begin = now();
    Sampler sampler(servers_, "steps");
    EXPECT_THROW(sampler.sample(1), Error);
    took_ = now() - begin;
  }
  double took() const { return to_seconds(took_); }
  using Remote = Methods<&Asker::sample, &Asker::took>;

 private:
  const Clients<Server> servers_;
  Duration took_{};
};

TEST(ReplaySamplerTest, ASampleEndsWithTheHandlerThatWantsIt) {
  Program program("replay");
  const auto servers =
      program.group<Server>({.name = "replay", .replicas = 2}, context, ServerOptions{.tables = {queue(100)}});
  const auto asker = program.add<Asker>({.name = "asker"}, servers);
  LocalRun run(program);
  const Client<Asker> client = run.client(asker);
  EXPECT_THROW(client.within(std::chrono::milliseconds(200)).call<&Asker::sample>(), Error);
  while (client.call<&Asker::took>() == 0) {
  }
  EXPECT_LT(client.call<&Asker::took>(), 30);  // and not after the sampler's own 60 s
}

TEST(ReplaySamplerTest, LateSamplesNameTheStateOfEachServer) {
  ReplayRun replay(queue(100), 2);
  Sampler sampler(replay.clients(), "steps", {.timeout = std::chrono::milliseconds(100)});
  const std::string late = error_of([&] { sampler.sample(1); }).text();
  EXPECT_NE(late.find("; that of server 0 has "), std::string::npos) << late;
  EXPECT_NE(late.find("; that of server 1 has "), std::string::npos) << late;
}

TEST(ReplaySamplerTest, ATimeoutOfNothingIsRefused) {
  ReplayRun replay(queue(100));
  EXPECT_THROW(Sampler(replay.client(), "steps", {.timeout = Duration::zero()}), Error);
}

TEST(ReplaySamplerTest, ItemsThatCameBeforeTheTimeWasOverAreInTheNextBatch) {
  ReplayRun replay(queue(100));
  TrajectoryWriter writer(replay.client(), "steps");
  insert(writer, 0, 3);
  // Long enough for the three items that are there.
  Sampler sampler(replay.client(), "steps", {.timeout = std::chrono::milliseconds(500)});
  const Error error = error_of([&] { sampler.sample(5); });
  EXPECT_NE(error.text().find("2 samples did not arrive"), std::string::npos) << error.text();
  insert(writer, 3, 4);
  EXPECT_EQ(numbers(sampler.sample(4)), (std::set<std::uint64_t>{0, 1, 2, 3}));
}

TEST(ReplaySamplerTest, ManyItemsHaveTheTimeOfOneCall) {
  TableOptions options = queue(100);
  options.limits = {};
  options.max_times_sampled = 0;  // without an end
  ReplayRun replay(options);
  TrajectoryWriter writer(replay.client(), "steps");
  insert(writer, 0, 1);
  Sampler sampler(replay.client(), "steps", {.timeout = std::chrono::milliseconds(30)});
  EXPECT_EQ(error_of([&] { sampler.sample(std::size_t{1} << 40); }).kind(), ErrorKind::deadline);
}

TEST(ReplaySamplerTest, PrioritiesGoToTheServersOfTheirItems) {
  TableOptions options = queue(100);
  options.max_times_sampled = 0;
  options.limits = {};
  options.sampler = Uniform{};
  ReplayRun replay(options, 2);
  for (int i = 0; i < 2; ++i) {
    TrajectoryWriter writer(replay.clients(), i, "steps");
    insert(writer, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(i) + 1);
  }
  Sampler sampler(replay.clients(), "steps");
  const Batch batch = sampler.sample(2);
  const std::vector<std::uint64_t> keys = batch.keys();
  EXPECT_EQ(sampler.update_priorities(keys, std::vector<double>{3, 4}), 2U);
  std::map<std::uint64_t, double> priorities;
  for (int i = 0; i < 4; ++i) {
    const Batch next = sampler.sample(2);
    for (std::size_t k = 0; k < next.size(); ++k) priorities[next.item(k).key] = next.item(k).priority;
  }
  EXPECT_EQ(priorities, (std::map<std::uint64_t, double>{{keys[0], 3}, {keys[1], 4}}));
  EXPECT_THROW(sampler.update_priorities(keys, std::vector<double>{1}), Error);
  EXPECT_THROW(sampler.update_priorities(std::vector<std::uint64_t>{~std::uint64_t{0}}, std::vector<double>{1}), Error);
}

TEST(ReplaySamplerTest, ABatchGathersColumnsAndKnowsItsShape) {
  ReplayRun replay(queue(100));
  TrajectoryWriter writer(replay.client(), "steps");
  for (std::uint64_t number = 0; number < 3; ++number) append(writer, number);
  writer.add_item(2);
  writer.add_item(3);
  writer.flush();
  Sampler sampler(replay.client(), "steps", {.ahead = 2});
  const Batch batch = sampler.sample(2);
  EXPECT_EQ(batch.steps(0), 2U);
  EXPECT_EQ(batch.steps(1), 3U);
  EXPECT_EQ(batch.gather<float>("values", 1), Array<float>::copy_of(std::vector<float>{2, -2, 1, -1}));
  EXPECT_NE(error_of([&] { batch.gather<float>("values", 2); }).text().find("has no step 2"), std::string::npos);
  EXPECT_NE(error_of([&] { batch.gather<double>("values", 0); }).text().find("f32"), std::string::npos);
  EXPECT_NE(error_of([&] { batch.gather<float>("value", 0); }).text().find("number: 1 u64"), std::string::npos);
  EXPECT_EQ(batch.rows(1).size(), 3 * batch.layout().row_bytes());
}

TEST(ReplaySamplerTest, ImportanceWeightsAreTheirFormula) {
  TableOptions options = queue(100);
  options.max_times_sampled = 0;
  options.limits = {};
  options.sampler = Prioritized{};
  ReplayRun replay(options);
  TrajectoryWriter writer(replay.client(), "steps");
  append(writer, 0);
  writer.add_item(1, 1);
  writer.add_item(1, 3);
  writer.flush();
  Sampler sampler(replay.client(), "steps");
  const Batch batch = sampler.sample(50);
  EXPECT_THROW(batch.importance_weights(std::nan("")), Error);
  EXPECT_THROW(batch.importance_weights(1e300), Error);
  const std::vector<float> weights = batch.importance_weights(0.5);
  // (2 · 1/4)^−0.5 is the largest.
  for (std::size_t i = 0; i < 50; ++i) {
    const double expected = batch.item(i).priority == 1 ? 1 : std::pow(2 * 0.75, -0.5) / std::pow(2 * 0.25, -0.5);
    EXPECT_NEAR(weights[i], expected, 1e-6);
  }
}

// Sixteen nodes at once: each of eight writers inserts its numbers in their order, and eight samplers take items from
// a queue until they have all. Every number comes exactly once.
constexpr std::uint64_t kItemsOfAWriter = 5000;
constexpr std::uint64_t kWriters = 8;

TEST(ReplaySamplerTest, SixteenWritersAndSamplersLoseNothingAndTakeNothingTwice) {
  static std::mutex mutex;
  static std::map<std::uint64_t, int> taken;
  taken.clear();
  Program program("crowd");
  const auto replay = program.group<Server>({.name = "replay", .replicas = 1}, context,
                                            ServerOptions{.tables = {queue_table("steps", test_columns(), 100)}});
  program.function(
      {.name = "writer", .replicas = kWriters},
      [](const Clients<Server>& servers, int index) {
        TrajectoryWriter writer(servers, index, "steps", {.batch = 16});
        const std::uint64_t begin = static_cast<std::uint64_t>(index) * kItemsOfAWriter;
        insert(writer, begin, begin + kItemsOfAWriter);
      },
      replay, index);
  program.function(
      {.name = "sampler", .replicas = kWriters},
      [](const Clients<Server>& servers, int) {
        Sampler sampler(servers, "steps");
        for (std::uint64_t count = 0; count < kItemsOfAWriter;) {
          const auto some = std::min<std::uint64_t>(10, kItemsOfAWriter - count);
          const Batch batch = sampler.sample(some);
          count += batch.size();
          const std::lock_guard lock(mutex);
          for (std::size_t i = 0; i < batch.size(); ++i) ++taken[number_at(batch, i, 0)];
        }
      },
      replay, index);
  LocalRun run(program);
  run.wait_finished();
  EXPECT_TRUE(run.failed().empty());
  EXPECT_EQ(taken.size(), kWriters * kItemsOfAWriter);
  EXPECT_TRUE(std::all_of(taken.begin(), taken.end(), [](const auto& one) { return one.second == 1; }));
}

// Many samplers of a table in which an item is sampled three times, while writers insert: each item is sampled a first,
// a second and a third time, each once.
TEST(ReplaySamplerTest, NoItemIsSampledPastItsLimit) {
  static std::mutex mutex;
  static std::map<std::uint64_t, std::set<std::uint32_t>> times;
  times.clear();
  TableOptions options{.name = "steps", .columns = test_columns()};
  options.max_times_sampled = 3;
  Program program("crowd");
  const auto replay =
      program.group<Server>({.name = "replay", .replicas = 1}, context, ServerOptions{.tables = {options}});
  program.function(
      {.name = "writer", .replicas = 8},
      [](const Clients<Server>& servers, int index) {
        TrajectoryWriter writer(servers, index, "steps", {.batch = 8});
        insert(writer, static_cast<std::uint64_t>(index) * 1000, static_cast<std::uint64_t>(index) * 1000 + 1000);
      },
      replay, index);
  program.function(
      {.name = "sampler", .replicas = 8},
      [](const Clients<Server>& servers, int) {
        Sampler sampler(servers, "steps");
        for (int count = 0; count < 3000; count += 10) {
          const Batch batch = sampler.sample(10);
          const std::lock_guard lock(mutex);
          for (std::size_t i = 0; i < batch.size(); ++i) {
            EXPECT_TRUE(times[number_at(batch, i, 0)].insert(batch.item(i).times_sampled).second);
          }
        }
      },
      replay, index);
  LocalRun run(program);
  run.wait_finished();
  EXPECT_TRUE(run.failed().empty());
  EXPECT_EQ(times.size(), 8000U);
  for (const auto& [number, seen] : times) EXPECT_EQ(seen, (std::set<std::uint32_t>{1, 2, 3})) << number;
}

}  // namespace
}  // namespace lp::replay
