// Replay servers end to end: inserts and samples that wait, updates, wrong requests, restarts and checkpoint files.
#include "nodes/replay/server.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "lp/checkpoint/cut.h"
#include "lp/checkpoint/stored_numbers.h"
#include "tests/directory.h"
#include "tests/nodes/replay/replay_run.h"

namespace lp::replay {
namespace {

TableOptions fifo_table(std::uint64_t items = 1000) {
  TableOptions options{.name = "steps", .columns = test_columns(), .max_items = items};
  options.sampler = Fifo{};
  return options;
}

// Inserts items of one step with the numbers [begin, end).
void insert_range(TrajectoryWriter& writer, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t number = begin; number < end; ++number) {
    append(writer, number);
    writer.add_item(1, static_cast<double>(number));
  }
  writer.flush();
}

TEST(ReplayServerTest, GivesTheStepsThatWereInserted) {
  ReplayRun replay(fifo_table());
  TrajectoryWriter writer(replay.client(), "steps");
  insert_range(writer, 0, 300);
  Sampler sampler(replay.client(), "steps");
  const Batch batch = sampler.sample(10);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    EXPECT_EQ(number_at(batch, i, 0), 0U);
    EXPECT_EQ(batch.item(i).times_sampled, i + 1);
    EXPECT_EQ(batch.item(i).table_size, 300U);
    EXPECT_EQ(batch.item(i).priority, 0);
  }
  EXPECT_EQ(sampler.info()[0].counts.samples, 10U);
}

TEST(ReplayServerTest, ASampleWaitsForEnoughItems) {
  TableOptions options = fifo_table();
  options.limits = min_size(3);
  ReplayRun replay(std::move(options));
  TrajectoryWriter writer(replay.client(), "steps");
  insert_range(writer, 0, 2);
  Future<Samples> sample = replay.client().async<&Server::sample>(SampleRequest{.table = 0, .count = 4});
  EXPECT_FALSE(sample.ready());
  insert_range(writer, 2, 3);
  EXPECT_EQ(sample.get().items.size(), 4U);
}

TEST(ReplayServerTest, AnInsertIntoAFullQueueWaitsForASample) {
  ReplayRun replay(queue_table("steps", test_columns(), 2));
  TrajectoryWriter writer(replay.client(), "steps", {.batch = 8});
  Sampler sampler(replay.client(), "steps");
  insert_range(writer, 0, 2);
  append(writer, 2);
  TrajectoryWriter other(replay.client(), "steps", {.chunk_steps = 1, .batch = 1});
  append(other, 3);
  other.add_item(1);  // on its way
  EXPECT_EQ(sampler.info()[0].size, 2U);
  EXPECT_EQ(number_at(sampler.sample(1), 0, 0), 0U);
  other.flush();
  EXPECT_EQ(number_at(sampler.sample(1), 0, 0), 1U);
  EXPECT_EQ(number_at(sampler.sample(1), 0, 0), 3U);
  EXPECT_EQ(sampler.info()[0].size, 0U);
}

TEST(ReplayServerTest, AStackGivesEachItemOnceTheNewestFirstAndAnInsertIntoAFullOneWaits) {
  ReplayRun replay(stack_table("steps", test_columns(), 3));
  TrajectoryWriter writer(replay.client(), "steps", {.batch = 8});
  Sampler sampler(replay.client(), "steps");
  insert_range(writer, 0, 3);
  TrajectoryWriter other(replay.client(), "steps", {.chunk_steps = 1, .batch = 1});
  append(other, 3);
  other.add_item(1);  // on its way
  EXPECT_EQ(sampler.info()[0].size, 3U);
  EXPECT_EQ(number_at(sampler.sample(1), 0, 0), 2U);
  other.flush();
  for (const std::uint64_t number : {3U, 1U, 0U}) EXPECT_EQ(number_at(sampler.sample(1), 0, 0), number);
  EXPECT_EQ(sampler.info()[0].size, 0U);
  EXPECT_EQ(sampler.info()[0].counts.samples, 4U);
}

TEST(ReplayServerTest, NobodyWaitsForEverUnlessItAsksTo) {
  EXPECT_LT(SamplerOptions().timeout, std::chrono::hours(1));
  EXPECT_LT(WriterOptions().timeout, std::chrono::hours(1));
  for (const rpc::Method& method : internal::node_type<Server>().methods) {
    if (method.name.find("insert") != std::string_view::npos || method.name.find("sample") != std::string_view::npos) {
      EXPECT_EQ(method.traits.deadline, std::chrono::seconds(60)) << method.name;
    }
  }
}

TEST(ReplayServerTest, AClientOfTheSameProcessReadsLargeStepsInTheMemoryOfTheTable) {
  TableOptions options{.name = "large", .columns = {column<float>("values", 4096)}};
  ReplayRun replay(options);
  TrajectoryWriter writer(replay.client(), "large");
  writer.append(std::vector<float>(4096, 7));
  writer.add_item(1);
  writer.flush();
  const SampleRequest request{.table = 0, .count = 1};
  const Samples first = replay.client().call<&Server::sample>(request);
  const Samples second = replay.client().call<&Server::sample>(request);
  ASSERT_EQ(first.large.size(), 1U);
  ASSERT_EQ(second.large.size(), 1U);
  EXPECT_EQ(first.large[0].data(), second.large[0].data());
}

TEST(ReplayServerTest, ASampleFromAnEmptyTableEndsAtItsTimeAndNamesTheReason) {
  ReplayRun replay(fifo_table());
  Sampler sampler(replay.client(), "steps", {.timeout = std::chrono::milliseconds(30)});
  const Error error = error_of([&] { sampler.sample(2); });
  EXPECT_EQ(error.kind(), ErrorKind::deadline);
  EXPECT_NE(error.text().find("\"steps\""), std::string::npos) << error.text();
  EXPECT_NE(error.text().find("0 items of at least 1"), std::string::npos) << error.text();
}

TEST(ReplayServerTest, ALateSampleTakesNoItem) {
  ReplayRun replay(queue_table("steps", test_columns(), 10));
  Sampler sampler(replay.client(), "steps", {.timeout = std::chrono::milliseconds(20)});
  EXPECT_EQ(error_of([&] { sampler.sample(1); }).kind(), ErrorKind::deadline);
  TrajectoryWriter writer(replay.client(), "steps");
  insert_range(writer, 0, 1);
  Sampler patient(replay.client(), "steps");
  EXPECT_EQ(number_at(patient.sample(1), 0, 0), 0U);
}

TEST(ReplayServerTest, AnInsertWithoutRoomEndsAtItsTimeAndIsNotLost) {
  ReplayRun replay(queue_table("steps", test_columns(), 1));
  TrajectoryWriter writer(replay.client(), "steps", {.timeout = std::chrono::milliseconds(300)});
  append(writer, 0);
  writer.add_item(1);
  append(writer, 1);
  writer.add_item(1);
  const Error error = error_of([&] { writer.flush(); });
  EXPECT_EQ(error.kind(), ErrorKind::deadline);
  EXPECT_NE(error.text().find("had no room for 1 items"), std::string::npos) << error.text();
  Sampler sampler(replay.client(), "steps");
  EXPECT_EQ(number_at(sampler.sample(1), 0, 0), 0U);
  bool flushed = false;
  while (!flushed) {  // there is room, but it may take longer than the timeout
    try {
      writer.flush();
      flushed = true;
    } catch (const Error& late) {
      EXPECT_EQ(late.kind(), ErrorKind::deadline);
    }
  }
  EXPECT_EQ(number_at(sampler.sample(1), 0, 0), 1U);
}

TEST(ReplayServerTest, PrioritiesChangeAndItemsGo) {
  TableOptions options = fifo_table();
  options.sampler = MaxHeap{};
  ReplayRun replay(std::move(options));
  TrajectoryWriter writer(replay.client(), "steps");
  insert_range(writer, 0, 5);
  Sampler sampler(replay.client(), "steps");
  const std::vector<std::uint64_t> last = sampler.sample(1).keys();
  EXPECT_EQ(sampler.update_priorities(last, std::vector<double>{0.5}), 1U);
  const Batch next = sampler.sample(1);
  EXPECT_EQ(number_at(next, 0, 0), 3U);
  EXPECT_EQ(sampler.remove(next.keys()), 1U);
  EXPECT_EQ(sampler.remove(next.keys()), 0U);
  EXPECT_EQ(sampler.update_priorities(next.keys(), std::vector<double>{9}), 0U);
  EXPECT_EQ(number_at(sampler.sample(1), 0, 0), 2U);
  replay.client().call<&Server::reset>(0U);
  EXPECT_EQ(sampler.info()[0].size, 0U);
}

TEST(ReplayServerTest, PrioritiesThatAreNoneAreRefusedAndChangeNothing) {
  ReplayRun replay(fifo_table());
  TrajectoryWriter writer(replay.client(), "steps");
  append(writer, 0);
  for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(error_of([&] { writer.add_item(1, bad); }).kind(), ErrorKind::failed);
    InsertRequest request;
    request.chunks = {{.key = 0, .steps = 1, .compressed = false, .bytes = Array<std::uint8_t>(16)}};
    request.items = {{.priority = 1}, {.priority = bad}};
    request.pieces = {{.chunk = 0, .first = 0, .steps = 1}, {.chunk = 0, .first = 0, .steps = 1}};
    EXPECT_EQ(error_of([&] { replay.client().call<&Server::insert>(request); }).kind(), ErrorKind::failed);
  }
  writer.add_item(1, 2);
  writer.flush();
  Sampler sampler(replay.client(), "steps");
  const std::uint64_t key = sampler.sample(1).item(0).key;
  const std::vector<std::uint64_t> keys{key, key};
  EXPECT_THROW(sampler.update_priorities(keys, std::vector<double>{7, -1}), Error);
  EXPECT_EQ(sampler.sample(1).item(0).priority, 2);
  EXPECT_EQ(sampler.info()[0].counts.inserts, 1U);
}

TEST(ReplayServerTest, RequestsThatFitNothingAreRefused) {
  ReplayRun replay(fifo_table());
  InsertRequest good;
  good.chunks = {{.key = 0, .steps = 2, .compressed = false, .bytes = Array<std::uint8_t>(32)}};
  good.items = {{.priority = 1}};
  good.pieces = {{.chunk = 0, .first = 1, .steps = 1}};
  std::vector<InsertRequest> bad(6, good);
  bad[0].table = 1;
  bad[1].pieces[0].steps = 2;
  bad[2].pieces[0].chunk = 1;
  bad[3].pieces.clear();
  bad[4].chunks[0].steps = 3;
  bad[5].chunks[0].compressed = true;
  for (const InsertRequest& one : bad) {
    EXPECT_EQ(error_of([&] { replay.client().call<&Server::insert>(one); }).kind(), ErrorKind::failed);
  }
  EXPECT_EQ(replay.client().call<&Server::insert>(good).accepted, 1U);
  EXPECT_EQ(replay.client().call<&Server::info>().tables[0].size, 1U);
}

TEST(ReplayServerTest, OptionsThatDoNotFitAreRefused) {
  const auto start_error = [](const ServerOptions& options) {
    Program program("replay");
    program.add<Server>({.name = "replay"}, context, options);
    LocalRun run(program, {}, LocalRun::kNothingHere);
    run.start_one("replay", 1);
    const auto failed = run.failed();
    return failed.empty() ? std::string() : failed.at("replay").text();
  };
  EXPECT_NE(start_error({}).find("at least one table"), std::string::npos);
  EXPECT_NE(start_error({.tables = {fifo_table(), fifo_table()}}).find("have the name \"steps\""), std::string::npos);
  EXPECT_NE(start_error({.tables = {fifo_table(0)}}).find("max_items"), std::string::npos);
  EXPECT_NE(start_error({.tables = {fifo_table()}, .memory = 1}).find("ServerOptions::spill"), std::string::npos);
  TableOptions prioritized = fifo_table();
  prioritized.sampler = Prioritized{.exponent = -1};
  EXPECT_NE(start_error({.tables = {prioritized}}).find("exponent"), std::string::npos);
  TableOptions without = fifo_table();
  without.columns.clear();
  EXPECT_NE(start_error({.tables = {without}}).find("at least one column"), std::string::npos);
  EXPECT_THROW(sample_to_insert(4, 100, 3), Error);
}

TEST(ReplayServerTest, ATableThatIsMissingIsNamed) {
  ReplayRun replay(fifo_table());
  const Error error = error_of([&] { Sampler(replay.client(), "step"); });
  EXPECT_NE(error.text().find("it has steps; did you mean"), std::string::npos) << error.text();
}

// The numbers of the items of a FIFO table whose items are sampled once, in their order.
std::vector<std::uint64_t> drain(Sampler& sampler) {
  std::vector<std::uint64_t> numbers;
  const std::uint64_t left = sampler.info()[0].size;
  const Batch batch = sampler.sample(left);
  for (std::size_t i = 0; i < batch.size(); ++i) numbers.push_back(number_at(batch, i, 0));
  return numbers;
}

TEST(ReplayServerTest, ARestartedServerHasExactlyTheItemsOfTheCut) {
  const test::Directory directory;
  ServerOptions options{.tables = {queue_table("steps", test_columns(), 100)}};
  ReplayRun<SavedServer> replay(options, 1, {.run = {.directory = directory.path()}});
  TrajectoryWriter writer(replay.client(), "steps", {.chunk_steps = 4});
  Sampler sampler(replay.client(), "steps");
  insert_range(writer, 0, 10);
  EXPECT_EQ(number_at(sampler.sample(2), 1, 0), 1U);
  replay.client().call<&SavedServer::checkpoint>(7U);
  replay.run().wait_saved(7, 1);
  insert_range(writer, 10, 20);
  sampler.sample(3);
  replay.run().restart({"replay/0"}, cut_directory(directory.path(), 7));
  const RateCounts counts = sampler.info()[0].counts;
  EXPECT_EQ(counts.inserts, 10U);
  EXPECT_EQ(counts.samples, 2U);
  EXPECT_EQ(counts.removals, 2U);
  EXPECT_EQ(drain(sampler), (std::vector<std::uint64_t>{2, 3, 4, 5, 6, 7, 8, 9}));
  insert_range(writer, 20, 22);  // it sends again the chunks that the server has lost
  EXPECT_EQ(drain(sampler), (std::vector<std::uint64_t>{20, 21}));
}

TEST(ReplayServerTest, AServerBeginsWithItsNewestCheckpointFile) {
  const test::Directory directory;
  const ServerOptions options{
      .tables = {queue_table("steps", test_columns(), 100)}, .checkpoints = directory.path(), .keep = 2};
  std::vector<std::string> files;
  {
    ReplayRun replay(options);
    TrajectoryWriter writer(replay.client(), "steps");
    for (std::uint64_t i = 0; i < 3; ++i) {
      insert_range(writer, i, i + 1);
      files.push_back(replay.client().call<&Server::checkpoint_file>());
    }
    insert_range(writer, 3, 4);
  }
  EXPECT_FALSE(std::filesystem::exists(files[0]));
  EXPECT_TRUE(std::filesystem::exists(files[1]));
  EXPECT_EQ(Checkpoint::inspect(files[2]).node, "replay/0");
  EXPECT_EQ(to_csv(numbers_of(Checkpoint::read(files[2]), "steps/priorities")), "0\n1\n2\n");  // as `lp` shows them
  std::ofstream(directory.path() / ".replay@0-000000000004.checkpoint.tmp0")
      << "half a file";  // a killed server leaves one
  ReplayRun again(options);
  Sampler sampler(again.client(), "steps");
  EXPECT_EQ(drain(sampler), (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST(ReplayServerTest, ASampleOfTooManyItemsIsRefused) {
  ReplayRun replay(fifo_table());
  const SampleRequest request{.table = 0, .count = SampleRequest::kMostItems + 1};
  EXPECT_EQ(error_of([&] { replay.client().call<&Server::sample>(request); }).kind(), ErrorKind::failed);
}

// As between processes: steps that are copied into the body of the reply, steps that are frames of their own, and more
// of those than a message has frames.
TEST(ReplayServerTest, StepsOfEverySizeTravelAsBytes) {
  for (const bool compress : {false, true}) {
    for (const std::uint32_t size : {1U, 200U, 3000U}) {
      Runtime::Options runtime;
      runtime.run.serialize = true;
      TableOptions options = queue_table("steps", {column<float>("values", size)}, 1000);
      ReplayRun replay(ServerOptions{.tables = {options}}, 1, std::move(runtime));
      TrajectoryWriter writer(replay.client(), "steps", {.chunk_steps = 3, .compress = compress});
      for (int i = 0; i < 400; ++i) {
        writer.append(std::vector<float>(size, static_cast<float>(i)));
        writer.add_item(i == 0 ? 1 : 2);
      }
      writer.flush();
      Sampler sampler(replay.client(), "steps");
      const Batch batch = sampler.sample(400);
      for (std::size_t i = 0; i < 400; ++i) {
        const auto values = batch.get<float>(i, i == 0 ? 0 : 1, "values");
        EXPECT_EQ(values.size(), size);
        EXPECT_EQ(values.front(), static_cast<float>(i));
        EXPECT_EQ(values.back(), static_cast<float>(i));
      }
    }
  }
}

// The error of a server that cannot start.
std::string start_error(const ServerOptions& options) {
  Program program("replay");
  program.group<Server>({.name = "replay", .replicas = 1}, context, options);
  LocalRun run(program, {}, LocalRun::kNothingHere);
  run.start_one("replay/0", 1);
  return run.failed().at("replay/0").text();
}

TEST(ReplayServerTest, ADamagedCheckpointFileIsNamedWithTheOneBeforeIt) {
  const test::Directory directory;
  const ServerOptions options{.tables = {queue_table("steps", test_columns(), 100)}, .checkpoints = directory.path()};
  std::vector<std::string> files;
  {
    ReplayRun replay(options);
    TrajectoryWriter writer(replay.client(), "steps");
    for (std::uint64_t i = 0; i < 2; ++i) {
      insert_range(writer, i, i + 1);
      files.push_back(replay.client().call<&Server::checkpoint_file>());
    }
  }
  std::filesystem::resize_file(files[1], std::filesystem::file_size(files[1]) / 2);
  const std::string error = start_error(options);
  EXPECT_NE(error.find("cannot begin with " + files[1] + ": "), std::string::npos) << error;
  EXPECT_TRUE(error.ends_with("move that file away, the server begins with " + files[0])) << error;
  std::filesystem::remove(files[1]);
  ReplayRun again(options);
  Sampler sampler(again.client(), "steps");
  EXPECT_EQ(drain(sampler), std::vector<std::uint64_t>{0});
}

TEST(ReplayServerTest, ACheckpointOfAnotherTableIsRefused) {
  const test::Directory directory;
  ServerOptions options{.tables = {fifo_table()}, .checkpoints = directory.path()};
  {
    ReplayRun replay(options);
    replay.client().call<&Server::checkpoint_file>();
  }
  ServerOptions renamed = options;
  renamed.tables[0].name = "others";
  EXPECT_NE(start_error(renamed).find("its tables are steps, but here they are others"), std::string::npos);
  ServerOptions other_columns = options;
  other_columns.tables[0].columns[1].size = 3;
  EXPECT_NE(start_error(other_columns).find("values: 2 f32, but here they are"), std::string::npos);
}

}  // namespace
}  // namespace lp::replay
