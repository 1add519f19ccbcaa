// A replay server in a process of its own that is really killed: its next incarnation has exactly the items of the last
// checkpoint.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "launchers/test_run.h"
#include "lp/checkpoint/cut.h"
#include "nodes/replay/sampler.h"
#include "nodes/replay/server.h"
#include "nodes/replay/trajectory_writer.h"
#include "tests/launchers/tools_for_test.h"
#include "tests/programs/programs_for_test.h"

namespace lp::test {
namespace {

constexpr std::uint64_t kStep = 7;  // of the cut
constexpr const char* kTable = "steps";
constexpr std::size_t kValues = 1000;  // of a step

// key, priority, how often it was sampled, the number of its first step, its steps
using Item = std::tuple<std::uint64_t, double, std::uint32_t, std::uint64_t, std::size_t>;

// Inserts items of one or two steps, with the numbers [begin, end).
void insert(replay::TrajectoryWriter& writer, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t number = begin; number < end; ++number) {
    writer.append(number, std::vector<float>(kValues, static_cast<float>(number)));
    writer.add_item(number == begin ? 1 : 2, static_cast<double>(number));
  }
  writer.flush();
}

// Takes out the oldest items.
std::vector<Item> take(replay::Sampler& sampler, std::size_t count) {
  const replay::Batch batch = sampler.sample(count);
  std::vector<Item> items;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (std::size_t step = 0; step < batch.steps(i); ++step) {
      const auto number = batch.get<std::uint64_t>(i, step, "number")[0];
      EXPECT_EQ(batch.get<float>(i, step, "values")[kValues - 1], static_cast<float>(number));
    }
    items.emplace_back(batch.item(i).key, batch.item(i).priority, batch.item(i).times_sampled,
                       batch.get<std::uint64_t>(i, 0, "number")[0], batch.steps(i));
  }
  return items;
}

// The items as the file has them, without their steps.
std::vector<std::tuple<std::uint64_t, double>> saved_items(const std::filesystem::path& run) {
  const Checkpoint saved = read_cut_file(cut_directory(run, kStep), "replay");
  const auto keys = saved.get<Array<std::uint64_t>>("steps/keys");
  const auto priorities = saved.get<Array<double>>("steps/priorities");
  std::vector<std::tuple<std::uint64_t, double>> items;
  for (std::size_t i = 0; i < keys.size(); ++i) items.emplace_back(keys[i], priorities[i]);
  return items;
}

TEST(ReplayRestart, AKilledServerHasExactlyTheItemsOfTheCheckpoint) {
  const Directory directory;
  const ReplayConfig config{.spill = directory.path()};
  LaunchOptions options = processes(config, "replay");
  options.directory = directory.path() / "run";
  TestRun run(make_replay(config), options);
  const auto server = run.client<replay::SavedServer>("replay");
  replay::TrajectoryWriter writer(server, kTable, {.chunk_steps = 3});
  replay::Sampler sampler(server, kTable);
  insert(writer, 0, 60);
  take(sampler, 10);
  server.call<&replay::SavedServer::checkpoint>(kStep);
  const Time end = after(std::chrono::seconds(60));
  while (run.status().cut != kStep) ASSERT_LT(now(), end);

  // All of this is lost: items that come, go, and have other priorities.
  insert(writer, 60, 90);
  const std::vector<Item> lost = take(sampler, 20);
  std::vector<std::uint64_t> keys;
  for (const auto& [key, priority] : saved_items(run.directory())) keys.push_back(key);
  EXPECT_EQ(sampler.update_priorities(keys, std::vector<double>(keys.size(), 1000)), keys.size() - lost.size());
  kill(run.status().nodes.at(0).pid, SIGKILL);
  while (run.status().nodes.at(0).restarts == 0) ASSERT_LT(now(), end);

  const std::vector<Item> found = take(sampler, keys.size());
  std::vector<Item> expected;
  const auto saved = saved_items(run.directory());
  for (std::size_t i = 0; i < saved.size(); ++i) {
    const std::uint64_t number = 10 + i;  // an item begins one step before its last
    expected.emplace_back(std::get<0>(saved[i]), std::get<1>(saved[i]), 1, number - 1, 2);
    EXPECT_EQ(std::get<1>(saved[i]), static_cast<double>(number));
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(found.size(), 50U);
  EXPECT_TRUE(std::equal(lost.begin(), lost.end(), found.begin()));
  const replay::TableInfo table = sampler.info()[0];
  EXPECT_EQ(table.size, 0U);  // there was nothing else
  EXPECT_EQ(table.counts.inserts, 60U);
  insert(writer, 90, 93);  // it sends again the chunks that the server has lost
  EXPECT_EQ(take(sampler, 3).size(), 3U);
}

}  // namespace

Program make_replay(const ReplayConfig& config) {
  replay::ServerOptions options;
  options.tables = {replay::queue_table(
      kTable, {replay::column<std::uint64_t>("number"), replay::column<float>("values", kValues)}, 1000)};
  options.memory = 64 << 10;  // most of the items are on the disk
  options.spill = config.spill;
  Program program("replay");
  program.add<replay::SavedServer>({.name = "replay", .on_failure = restart(3)}, context, options);
  return program;
}

}  // namespace lp::test
