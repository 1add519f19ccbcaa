// The last states of workers: which are kept, when a cut of them is taken, and what a cut restores.
#include "nodes/commits.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "lp/checkpoint/cut.h"
#include "lp/lp.h"
#include "tests/directory.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

Array<float> state_of(float value) { return Array<float>::copy_of(std::vector<float>{value}); }

TEST(CutSchedule, IsDueAfterSoManyAndAfterTheLastButNeverTwice) {
  CutSchedule schedule{.every = 10, .last = 25};
  std::vector<std::uint64_t> cuts;
  for (std::uint64_t updates = 0; updates < 30; updates += 4) {
    if (schedule.due(updates)) cuts.push_back(updates);
    EXPECT_FALSE(schedule.due(updates));
  }
  EXPECT_EQ(cuts, (std::vector<std::uint64_t>{12, 24, 28}));
  CutSchedule last{.last = 25};
  EXPECT_FALSE(last.due(24));
  EXPECT_TRUE(last.due(25));
}

TEST(Commits, KeepsTheNewestStateOfEachSlot) {
  Program program("commits");
  const auto commits = program.add<Commits>({.name = "commits"}, context, 2U, CutSchedule{});
  LocalRun run(program);
  const Client<Commits> client = run.client(commits);
  EXPECT_TRUE(client.call<&Commits::state>(1U).empty());
  client.call<&Commits::put>(1U, 5U, state_of(5));
  client.call<&Commits::put>(1U, 3U, state_of(3));
  client.call<&Commits::put>(1U, 5U, state_of(6));
  EXPECT_EQ(client.call<&Commits::state>(1U), state_of(5));
  EXPECT_TRUE(client.call<&Commits::state>(0U).empty());
  EXPECT_THROW(client.call<&Commits::put>(2U, 1U, state_of(1)), Error);
  EXPECT_THROW(client.call<&Commits::state>(2U), Error);
}

TEST(Commits, ComeBackFromACutThatHasThoseOfAllSlots) {
  const test::Directory directory;
  const auto run_of = [&](Program& program, std::uint32_t slots) {
    return program.add<Commits>({.name = "commits"}, context, slots, CutSchedule{.every = 10, .last = 100});
  };
  {
    Program program("commits");
    const auto commits = run_of(program, 2);
    LocalRun run(program, {.run = {.directory = directory.path()}});
    const Client<Commits> client = run.client(commits);
    client.call<&Commits::put>(0U, 6U, state_of(6));
    EXPECT_FALSE(std::filesystem::exists(directory.path() / "checkpoints"));
    client.call<&Commits::put>(1U, 5U, state_of(5));
    run.wait_saved(11, 1);
    client.call<&Commits::put>(0U, 12U, state_of(12));
    run.restart({"commits"}, cut_directory(directory.path(), 11));
    EXPECT_EQ(client.call<&Commits::state>(0U), state_of(6));
    EXPECT_EQ(client.call<&Commits::state>(1U), state_of(5));
    client.call<&Commits::put>(0U, 95U, state_of(95));
    run.wait_saved(100, 1);
  }
  Program program("commits");
  run_of(program, 3);
  LocalRun run(program, {.run = {.directory = directory.path()}});
  run.restart({"commits"}, cut_directory(directory.path(), 11));
  ASSERT_EQ(run.failed().count("commits"), 1U);
  EXPECT_NE(run.failed().at("commits").text().find("resume with the same number of workers"), std::string::npos);
}

}  // namespace
}  // namespace lp
