// Windows of steps: shared chunks, episodes, several tables, compression, and chunks that the server has lost.
#include "nodes/replay/trajectory_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/nodes/replay/replay_run.h"

namespace lp::replay {
namespace {

TableOptions steps_table(std::string name = "steps", std::uint64_t items = 10'000) {
  TableOptions options = queue_table(std::move(name), test_columns(), items);
  options.limits = {};
  return options;
}

// The numbers of all steps of an item.
std::vector<std::uint64_t> numbers(const Batch& batch, std::size_t i) {
  std::vector<std::uint64_t> all;
  for (std::size_t step = 0; step < batch.steps(i); ++step) all.push_back(number_at(batch, i, step));
  return all;
}

std::vector<std::uint64_t> range(std::uint64_t begin, std::uint64_t end) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t number = begin; number < end; ++number) all.push_back(number);
  return all;
}

TEST(ReplayWriterTest, WindowsHaveTheirStepsWhateverTheChunks) {
  for (const bool compress : {false, true}) {
    for (const std::uint32_t chunk_steps : {1U, 2U, 3U, 7U, 64U}) {
      for (const std::uint32_t batch : {1U, 5U, 256U}) {
        for (const bool flush_often : {false, true}) {
          ReplayRun replay(steps_table());
          TrajectoryWriter writer(replay.client(), "steps",
                                  {.window = 5, .chunk_steps = chunk_steps, .batch = batch, .compress = compress});
          std::vector<std::vector<std::uint64_t>> expected;
          for (std::uint64_t number = 0; number < 40; ++number) {
            append(writer, number);
            for (std::uint32_t steps = 1; steps <= writer.steps(); steps += 2) {
              writer.add_item(steps);
              expected.push_back(range(number + 1 - steps, number + 1));
            }
            if (flush_often && number % 4 == 0) writer.flush();
            if (number == 17) writer.end_episode();
          }
          writer.flush();
          Sampler sampler(replay.client(), "steps");
          const Batch all = sampler.sample(expected.size());
          for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(numbers(all, i), expected[i]);
          EXPECT_EQ(sampler.info()[0].size, 0U);
          EXPECT_EQ(replay.client().call<&Server::info>().bytes_in_memory, 0U);
        }
      }
    }
  }
}

TEST(ReplayWriterTest, AStepIsStoredOnceHoweverManyItemsHaveIt) {
  ReplayRun replay(steps_table());
  TrajectoryWriter writer(replay.client(), "steps", {.window = 10, .chunk_steps = 10});
  for (std::uint64_t number = 0; number < 100; ++number) {
    append(writer, number);
    for (std::uint32_t steps = 1; steps <= writer.steps(); ++steps) writer.add_item(steps);
  }
  writer.flush();
  const ServerInfo info = replay.client().call<&Server::info>();
  EXPECT_EQ(info.tables[0].size, 955U);
  EXPECT_EQ(info.tables[0].bytes, 100U * 16);
  EXPECT_EQ(info.bytes_in_memory, 100U * 16);
}

TEST(ReplayWriterTest, AnItemDoesNotReachIntoAnEarlierEpisode) {
  ReplayRun replay(steps_table());
  TrajectoryWriter writer(replay.client(), "steps", {.window = 3});
  for (std::uint64_t number = 0; number < 5; ++number) append(writer, number);
  EXPECT_EQ(writer.steps(), 3U);
  EXPECT_EQ(error_of([&] { writer.add_item(4); }).kind(), ErrorKind::failed);
  writer.end_episode();
  EXPECT_EQ(writer.steps(), 0U);
  append(writer, 5);
  const Error error = error_of([&] { writer.add_item(2); });
  EXPECT_NE(error.text().find("the episode has 1 steps so far"), std::string::npos) << error.text();
  writer.add_item(1);
  writer.flush();
  Sampler sampler(replay.client(), "steps");
  EXPECT_EQ(numbers(sampler.sample(1), 0), range(5, 6));
}

TEST(ReplayWriterTest, TablesShareChunks) {
  TableOptions other = steps_table("other");
  TableOptions wide = steps_table("wide");
  wide.columns[1].size = 3;
  ReplayRun replay(ServerOptions{.tables = {steps_table(), other, wide}});
  TrajectoryWriter writer(replay.client(), "steps", {.chunk_steps = 4});
  for (std::uint64_t number = 0; number < 8; ++number) {
    append(writer, number);
    writer.add_item(1);
    if (number % 2 == 1) writer.add_item_to("other", 2);
  }
  EXPECT_NE(error_of([&] { writer.add_item_to("wide", 1); }).text().find("values: 3 f32"), std::string::npos);
  writer.flush();
  EXPECT_EQ(replay.client().call<&Server::info>().bytes_in_memory, 8U * 16);
  Sampler others(replay.client(), "other");
  const Batch batch = others.sample(4);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(numbers(batch, i), range(2 * i, 2 * i + 2));
}

TEST(ReplayWriterTest, ShapesThatChangeBetweenStepsAreRefused) {
  ReplayRun replay(steps_table());
  TrajectoryWriter writer(replay.client(), "steps");
  append(writer, 0);
  const std::uint64_t one = 1;
  EXPECT_NE(error_of([&] { writer.append(one, std::vector<float>(3)); }).text().find("2 f32 in a step, but 3 f32"),
            std::string::npos);
  EXPECT_NE(error_of([&] { writer.append(one, std::vector<double>(2)); }).text().find("2 f64 are given"),
            std::string::npos);
  EXPECT_NE(error_of([&] { writer.append(one); }).text().find("a step has 1 values"), std::string::npos);
  EXPECT_NE(error_of([&] { writer.append(one, std::vector<float>(2), 1); }).text().find("more values are given"),
            std::string::npos);
  EXPECT_EQ(writer.steps(), 1U);
  append(writer, 1);
  writer.add_item(2);
  writer.flush();
  Sampler sampler(replay.client(), "steps");
  EXPECT_EQ(numbers(sampler.sample(1), 0), range(0, 2));
}

TEST(ReplayWriterTest, ChunksThatTheServerHasLostAreSentAgain) {
  ReplayRun replay(steps_table("steps", 1));  // each item removes the one before, and so its chunk
  TrajectoryWriter writer(replay.client(), "steps", {.window = 3, .chunk_steps = 1});
  Sampler sampler(replay.client(), "steps");
  for (std::uint64_t number = 0; number < 3; ++number) append(writer, number);
  writer.add_item(3);
  writer.flush();
  EXPECT_EQ(numbers(sampler.sample(1), 0), range(0, 3));  // it is gone
  writer.add_item(2);
  writer.flush();
  EXPECT_EQ(numbers(sampler.sample(1), 0), range(1, 3));
}

TEST(ReplayWriterTest, CompressionSavesMemory) {
  ReplayRun replay(steps_table());
  TrajectoryWriter writer(replay.client(), "steps", {.chunk_steps = 1000, .compress = true});
  for (int i = 0; i < 1000; ++i) append(writer, 7);
  writer.add_item(5);
  writer.flush();
  EXPECT_LT(replay.client().call<&Server::info>().bytes_in_memory, 1000U);
  Sampler sampler(replay.client(), "steps");
  EXPECT_EQ(numbers(sampler.sample(1), 0), std::vector<std::uint64_t>(5, 7));
}

TEST(ReplayWriterTest, ItemsThatATableRefusesAreDroppedAndTold) {
  struct Refusing : Extension {
    void on_insert(const ItemView&) override {
      if (++inserted == 3) throw std::runtime_error("enough");
    }
    int inserted = 0;
  };
  TableOptions options = steps_table();
  options.extension = [] { return std::make_unique<Refusing>(); };
  ReplayRun replay(options);
  TrajectoryWriter writer(replay.client(), "steps");
  for (std::uint64_t number = 0; number < 5; ++number) {
    append(writer, number);
    writer.add_item(1);
  }
  const Error error = error_of([&] { writer.flush(); });
  EXPECT_EQ(error.kind(), ErrorKind::failed);
  EXPECT_NE(error.text().find("enough; those of the 5 items sent last that are not in the table are dropped"),
            std::string::npos)
      << error.text();
  EXPECT_EQ(Sampler(replay.client(), "steps").info()[0].size, 3U);
  append(writer, 5);
  writer.add_item(1);
  writer.flush();
  EXPECT_EQ(Sampler(replay.client(), "steps").info()[0].size, 4U);
}

TEST(ReplayWriterTest, OptionsOfNothingAreRefused) {
  ReplayRun replay(steps_table());
  EXPECT_THROW(TrajectoryWriter(replay.client(), "steps", {.window = 0}), Error);
  EXPECT_THROW(TrajectoryWriter(replay.client(), "steps", {.chunk_steps = 0}), Error);
  EXPECT_THROW(TrajectoryWriter(replay.client(), "steps", {.timeout = Duration::zero()}), Error);
  EXPECT_NE(error_of([&] { TrajectoryWriter(replay.client(), "steps", {.chunk_steps = ~0U}); }).text().find("GiB"),
            std::string::npos);
  EXPECT_THROW(TrajectoryWriter(replay.client(), "steps", {.batch = 0}), Error);
  EXPECT_THROW(TrajectoryWriter(replay.client(), "step"), Error);
  EXPECT_THROW(TrajectoryWriter(replay.clients(), -1, "steps"), Error);
}

}  // namespace
}  // namespace lp::replay
