// Items of a saved replay server that are removed or changed, before another server begins with them.
#include "nodes/replay/saved_items.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "lp/base/text.h"
#include "lp/checkpoint/cut.h"
#include "lp/wire/message.h"
#include "tests/directory.h"
#include "tests/nodes/replay/replay_run.h"

namespace lp::replay {
namespace {

// Items of one or two steps, whose priority is the number of their first step.
void insert_steps(TrajectoryWriter& writer, std::uint64_t count) {
  for (std::uint64_t number = 0; number < count; ++number) {
    append(writer, number);
    const bool two = number > 0 && number % 2 == 0;
    writer.add_item(two ? 2 : 1, static_cast<double>(two ? number - 1 : number));
  }
  writer.flush();
}

std::vector<std::string> drained(Sampler& sampler) {
  std::vector<std::string> items;
  const std::uint64_t left = sampler.info()[0].size;
  if (left == 0) return items;
  const Batch batch = sampler.sample(left);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    items.push_back(std::to_string(number_at(batch, i, 0)) + "+" + std::to_string(batch.steps(i)) + " at " +
                    std::to_string(static_cast<int>(batch.item(i).priority)));
  }
  return items;
}

class SavedItemsTest : public testing::Test {
 protected:
  SavedItemsTest() {
    ReplayRun replay(options_);
    TrajectoryWriter writer(replay.client(), "steps", {.chunk_steps = 3});
    insert_steps(writer, 6);
    file_ = replay.client().call<&Server::checkpoint_file>();
  }
  std::vector<std::string> items() const {
    ReplayRun replay(options_);
    Sampler sampler(replay.client(), "steps");
    return drained(sampler);
  }

  const test::Directory directory_{};
  const ServerOptions options_{.tables = {queue_table("steps", test_columns(), 100)}, .checkpoints = directory_.path()};
  std::string file_{};
};

TEST_F(SavedItemsTest, RemovedItemsAreGoneAndOthersHaveTheirNewPriorities) {
  edit_saved_items(file_, "steps", [](SavedItem& item) {
    item.priority += 10;
    return item.priority != 11;  // two items have this one
  });
  EXPECT_EQ(items(), (std::vector<std::string>{"0+1 at 10", "3+1 at 13", "3+2 at 13", "5+1 at 15"}));
}

TEST_F(SavedItemsTest, ATableThatLosesAllItemsIsEmptyAndGoesOn) {
  edit_saved_items(file_, "steps", [](SavedItem&) { return false; });
  ReplayRun replay(options_);
  Sampler sampler(replay.client(), "steps");
  EXPECT_EQ(sampler.info()[0].size, 0U);
  EXPECT_EQ(replay.client().call<&Server::info>().bytes_in_memory, 0U);
  TrajectoryWriter writer(replay.client(), "steps");
  insert_steps(writer, 1);
  EXPECT_EQ(drained(sampler), (std::vector<std::string>{"0+1 at 0"}));
}

TEST_F(SavedItemsTest, WhatDoesNotFitIsNamedAndChangesNothing) {
  const std::uint64_t checksum = Checkpoint::inspect(file_).checksum;
  const auto nothing = [](SavedItem&) { return true; };
  EXPECT_EQ(error_of([&] { edit_saved_items(file_, "step", nothing); }).text(),
            "the checkpoint has no replay table \"step\"; it has \"steps\"");
  for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    const auto edit = [bad](SavedItem& item) {
      item.priority = bad;
      return true;
    };
    EXPECT_EQ(error_of([&] { edit_saved_items(file_, "steps", edit); }).kind(), ErrorKind::failed);
  }
  const auto other_key = [](SavedItem& item) { return ++item.key != 0; };
  EXPECT_EQ(error_of([&] { edit_saved_items(file_, "steps", other_key); }).text(),
            "the key of a saved item cannot change: those who sampled the item know it by that");
  EXPECT_EQ(Checkpoint::inspect(file_).checksum, checksum);
}

TEST(SavedItemsOfACutTest, ACutIsCompleteAgainAndIsRestored) {
  const test::Directory directory;
  const ServerOptions options{.tables = {queue_table("steps", test_columns(), 100)}};
  ReplayRun<SavedServer> replay(options, 1, {.run = {.directory = directory.path()}});
  TrajectoryWriter writer(replay.client(), "steps");
  insert_steps(writer, 4);
  replay.client().call<&SavedServer::checkpoint>(7U);
  replay.run().wait_saved(7, 1);
  complete_cut(directory.path(), 7, "replay", 5, std::vector<std::string>{"replay/0"});
  const std::filesystem::path cut = cut_directory(directory.path(), 7);
  edit_saved_items(cut_file(cut, "replay/0"), "steps", [](const SavedItem& item) { return item.priority > 0; });
  const CutList list = list_cuts(directory.path());
  EXPECT_TRUE(list.problems.empty()) << join(list.problems, ", ");
  ASSERT_EQ(list.cuts.size(), 1U);
  EXPECT_EQ(list.cuts[0].fingerprint, 5U);
  replay.run().restart({"replay/0"}, cut);
  Sampler sampler(replay.client(), "steps");
  EXPECT_EQ(drained(sampler), (std::vector<std::string>{"1+1 at 1", "1+2 at 1", "3+1 at 3"}));
}

}  // namespace
}  // namespace lp::replay
