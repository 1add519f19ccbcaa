// Programs with an elastic group, whose nodes are threads and processes: members leave and come back.

#include <gtest/gtest.h>
#include <signal.h>

#include "launchers/plan/placer.h"
#include "launchers/test_run.h"
#include "lp/base/error.h"
#include "tests/directory.h"
#include "tests/launchers/elastic_program.h"
#include "tests/launchers/engines_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

constexpr auto kPatience = std::chrono::seconds(30);

const Handle<Watcher> kWatcher("watcher");

class Elastic : public testing::TestWithParam<LaunchType> {
 protected:
  LaunchOptions options(const ElasticConfig& config = {}) const {
    LaunchOptions options = processes(config, "elastic");
    options.launch = GetParam();
    options.engines = &test_engines();
    options.directory = directory_.path() / "run";
    return options;
  }
  static Clients<Member> members_of(lp::Run& run, int size = 4) {
    return run.client(GroupHandle<Member>("member", size));
  }
  static const NodeStatus& status_of(const RunStatus& status, const std::string& node) {
    return *std::find_if(status.nodes.begin(), status.nodes.end(), [&](const auto& one) { return one.name == node; });
  }
  // Ends a member as abruptly as possible.
  static void end(lp::Run& run, int member) {
    const RunStatus status = run.status();
    if (const int pid = status_of(status, "member/" + std::to_string(member)).pid; pid != 0) {
      kill(pid, SIGKILL);
    } else {
      run.client(Handle<Member>("member/" + std::to_string(member))).send<&Member::leave>();
    }
  }
  std::string start_again(const std::string& node) const { return restart_node(directory_.path() / "run", node); }

  const Directory directory_;
};

TEST_P(Elastic, AMemberLeavesAndComesBackAndTheOthersAreTold) {
  TestRun run(make_elastic({}), options());
  const auto watcher = run.client(kWatcher);
  EXPECT_EQ(watcher.call<&Watcher::now>().epoch, 0u);
  const Clients<Member> all = members_of(run);

  end(run, 1);
  Seen seen = watcher.call<&Watcher::after>(0);
  EXPECT_EQ(seen.epoch, 1u);
  EXPECT_EQ(seen.members, (std::vector{0, 2, 3}));
  EXPECT_EQ(watcher.call<&Watcher::call>(1).rfind("disconnected: ", 0), 0u) << watcher.call<&Watcher::call>(1);
  ASSERT_TRUE(all.change().get_for(kPatience).has_value());  // also outside of the graph
  EXPECT_EQ(all.latest().epoch(), 1u);
  EXPECT_EQ(all.latest().size(), 3u);
  EXPECT_EQ(all.latest().replica(1), 2u);
  EXPECT_EQ(all.size(), 4u);
  EXPECT_EQ(all.replica(1), 1u);
  const RunStatus status = run.status();
  EXPECT_EQ(status_of(status, "member/1").state, NodeStatus::State::absent);

  EXPECT_EQ(start_again("member/1"), R"({"done":"member/1 is restarted"})");
  seen = watcher.call<&Watcher::after>(1);
  EXPECT_EQ(seen.epoch, 2u);
  EXPECT_EQ(seen.members, (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(watcher.call<&Watcher::call>(1), "");
  run.stop("enough");
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
}

TEST_P(Elastic, ACallToWhoIsAbsentFailsAtOnceAndSaysWhy) {
  LaunchOptions patient = options();
  patient.deadline = std::chrono::hours(1);
  TestRun run(make_elastic({}), patient);
  end(run, 3);
  run.client(kWatcher).call<&Watcher::after>(0);
  const std::string error = run.client(kWatcher).call<&Watcher::call>(3);
  EXPECT_EQ(error.rfind("disconnected: member/3: ", 0), 0u) << error;
  EXPECT_NE(error.find("its budget of 0 restarts is used up"), std::string::npos) << error;
}

TEST_P(Elastic, TooFewMembersStopTheProgram) {
  TestRun run(make_elastic({.members = {2, 3}}), options({.members = {2, 3}}));
  end(run, 0);
  EXPECT_EQ(run.client(kWatcher).call<&Watcher::after>(0).members, (std::vector{1, 2}));
  end(run, 2);
  ASSERT_TRUE(run.wait_for(kPatience));
  EXPECT_EQ(run.wait().exit_code(), 1);
  EXPECT_EQ(run.wait().cause.node, "member/2");
  EXPECT_TRUE(run.wait().cause.what.ends_with("; group member has 1 member left, but needs 2"))
      << run.wait().cause.what;
}

TEST_P(Elastic, WhoHasNoRoomIsAbsentFromTheBeginning) {
  LaunchOptions small = options();
  const std::uint64_t here = launch::capacity_here().memory;
  small.placements = {{.group = "member", .memory = here / 3}};  // three fit
  TestRun run(make_elastic({}), small);
  const Seen seen = run.client(kWatcher).call<&Watcher::now>();
  EXPECT_EQ(seen.members, (std::vector{0, 1, 2}));
  const RunStatus status = run.status();
  EXPECT_EQ(status_of(status, "member/3").state, NodeStatus::State::absent);
  EXPECT_TRUE(
      start_again("member/3").starts_with(R"({"error":"member/3 cannot be restarted: member/3 needs 0 gpus, )"));
  const std::string error = run.client(kWatcher).call<&Watcher::call>(3);
  EXPECT_NE(error.find("has no host: member/3 needs 0 gpus, "), std::string::npos) << error;
}

TEST_P(Elastic, WhoHadNoRoomTakesThePlaceOfOneThatLeaves) {
  LaunchOptions small = options();
  small.placements = {{.group = "member", .memory = launch::capacity_here().memory / 3}};
  TestRun run(make_elastic({}), small);
  const std::uint64_t epoch = run.client(kWatcher).call<&Watcher::now>().epoch;
  end(run, 0);
  Seen seen = run.client(kWatcher).call<&Watcher::after>(epoch);
  // both were reported one after the other
  if (seen.members.size() == 2) seen = run.client(kWatcher).call<&Watcher::after>(seen.epoch);
  EXPECT_EQ(seen.members, (std::vector{1, 2, 3}));
}

// The values of the Keepers; an absent one has none.
TEST_P(Elastic, CutsHoldTheMembersThatAreThere) {
  LaunchOptions keeping = options({.members = {1, 3}});
  keeping.entry = "keeping";
  TestRun run(make_keeping({.members = {1, 3}}), keeping);
  const Clients<Keeper> all = run.client(GroupHandle<Keeper>("keeper", 3));
  const auto values = [&] { return all.latest().all<&Keeper::value>(); };
  const auto take_cut = [&](std::uint64_t step, int first_value) {
    for (const Client<Keeper>& keeper : all.latest()) {
      keeper.call<&Keeper::keep>(first_value++);
      keeper.call<&Keeper::cut>(step);
    }
    for (const Time end = after(kPatience); run.status().cut != step;) ASSERT_LT(now(), end) << run.status().cut;
  };
  const auto wait_until_all_run = [&] {
    const auto runs = [](const NodeStatus& one) { return one.state == NodeStatus::State::running; };
    for (const Time end = after(kPatience); now() < end;) {
      const RunStatus status = run.status();
      if (std::all_of(status.nodes.begin(), status.nodes.end(), runs)) return;
    }
    ADD_FAILURE() << "they do not run";
  };
  const auto wait_for_members = [&](std::size_t count) {
    while (all.latest().size() != count) ASSERT_TRUE(all.latest().change().get_for(kPatience).has_value());
  };
  take_cut(1, 10);
  all[2].send<&Keeper::leave>();
  wait_for_members(2);
  take_cut(2, 20);
  EXPECT_EQ(start_again("keeper/2"), R"({"done":"keeper/2 is restarted"})");
  wait_for_members(3);
  EXPECT_EQ(values(), (std::vector{20, 21, 0}));  // its value was carried along
  all[2].call<&Keeper::keep>(99);
  EXPECT_EQ(start_again("keeper/0"), R"({"done":"keeper/0 is restarted from the checkpoint of step 2"})");
  wait_until_all_run();
  EXPECT_EQ(values(), (std::vector{20, 21, 0}));  // all have gone back
  take_cut(3, 30);
  run.stop("enough");
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();

  keeping.resume = keeping.directory;
  keeping.directory = directory_.path() / "resumed";
  TestRun resumed(make_keeping({.members = {1, 3}}), keeping);
  EXPECT_EQ(resumed.client(GroupHandle<Keeper>("keeper", 3)).all<&Keeper::value>(), (std::vector{30, 31, 32}));
}

INSTANTIATE_TEST_SUITE_P(Launchers, Elastic, testing::ValuesIn(kEnginesHere),
                         [](const auto& one) { return test_name(one.param); });

TEST(ElasticThreads, WhoIsCalledFromOutsideAloneIsKnownToBeGone) {
  Program program("alone");
  const auto members = program.group<Member>({.name = "member", .replicas = {1, 2}, .on_failure = restart(0)}, index);
  TestRun run(std::move(program));
  const Clients<Member> all = run.client(members);
  all[1].send<&Member::leave>();
  ASSERT_TRUE(all.change().get_for(kPatience).has_value());
  EXPECT_EQ(all.latest().size(), 1u);
  try {
    all[1].within(std::chrono::hours(1)).call<&Member::index>();
    FAIL() << "it has answered";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::disconnected);
  }
}

TEST(ElasticThreads, AHandleOfSizeZeroIsNobody) {
  Program program("alone");
  program.group<Member>({.name = "member", .replicas = 3}, index);
  TestRun run(std::move(program));
  EXPECT_EQ(run.client(GroupHandle<Member>("member", 0)).latest().size(), 0u);
  EXPECT_EQ(run.client(GroupHandle<Member>("none", 0)).latest().size(), 0u);
}

TEST(ElasticThreads, CutsGoOnWithoutANodeThatIsIgnored) {
  const Directory directory;
  Program program("ignored");
  const auto keepers = program.group<Keeper>({.name = "keeper", .replicas = 2, .on_failure = ignore()}, context);
  LaunchOptions options;
  options.directory = directory.path() / "run";
  TestRun run(std::move(program), options);
  const Clients<Keeper> all = run.client(keepers);
  all[1].send<&Keeper::leave>();
  ASSERT_TRUE(all.change().get_for(kPatience).has_value());
  all[0].call<&Keeper::cut>(1);
  for (const Time end = after(kPatience); run.status().cut != 1;) ASSERT_LT(now(), end);
}

// Placer of hosts with slots, as with ssh and Slurm.
class ElasticPlaces : public testing::Test {
 protected:
  // Members in a range, and two other services, on hosts with these slots, and memory for this many processes.
  launch::Placer places(Replicas members, const std::vector<int>& slots, std::uint64_t memory = 0) {
    Program program("p");
    program.group<Member>({.name = "member", .replicas = members, .memory = memory}, index);
    program.group<Member>({.name = "other", .replicas = 2, .memory = memory}, index);
    plan_ = make_plan(program);
    graph_ = launch::topology_of(plan_);
    std::vector<launch::HostCapacity> hosts;
    for (const int some : slots) {
      hosts.push_back({.spec = {.name = std::string(1, static_cast<char>('a' + hosts.size())), .slots = some},
                       .memory = memory * static_cast<std::uint64_t>(some)});
    }
    return {plan_, graph_, hosts, {}};
  }

  Plan plan_;
  launch::SupervisionGraph graph_;
};

TEST_F(ElasticPlaces, FewerSlotsThanTheMostAreEnough) {
  launch::Placer hosts = places({1, 4}, {2, 2});
  EXPECT_EQ(hosts.place(1, false), "");  // member/1: the last slot, after member/0 and both others
  EXPECT_EQ(hosts.place(2, false),
            "member/2 needs 0 gpus, 0 of memory, and a has no slot, 0 gpus, 0 of memory left; b has no slot, 0 gpus, 0 "
            "of memory left");
  EXPECT_EQ(hosts.of(2).host, launch::Assignment::kNowhere);
  EXPECT_EQ(hosts.place(2, true), "");  // a required process may exceed a host's slots
}

TEST_F(ElasticPlaces, APlaceThatIsGivenBackIsAnothersNext) {
  launch::Placer hosts = places({1, 2}, {1, 2});
  EXPECT_NE(hosts.place(1, false), "");
  hosts.release(0);
  EXPECT_EQ(hosts.place(1, false), "");
  EXPECT_NE(hosts.place(0, false), "");
}

TEST_F(ElasticPlaces, ALostHostHasNoRoom) {
  launch::Placer hosts = places({1, 2}, {2, 2});
  EXPECT_EQ(hosts.place(1, false), "");
  const std::size_t lost = hosts.of(1).host;
  hosts.lose(lost);
  EXPECT_NE(hosts.place(1, false), "");
  EXPECT_EQ(hosts.place(1, true), "");
  EXPECT_EQ(hosts.of(1).host, 1 - lost);
}

TEST_F(ElasticPlaces, AHostThatComesBackWithLessHasNoPlaceForWhatDoesNotFit) {
  launch::Placer hosts = places({1, 1}, {1, 2}, 100);  // each of them needs this much memory
  const auto comes_back_with = [&](std::uint64_t memory) {
    hosts.lose(1);
    hosts.take_back(1, {.spec = {.name = "b", .slots = 2}, .memory = memory});
  };
  comes_back_with(300);
  EXPECT_EQ(hosts.of(1).host, 1u);  // as before, until it starts
  EXPECT_EQ(hosts.of(2).host, 1u);
  comes_back_with(150);
  EXPECT_EQ(hosts.of(1).host, 1u);
  EXPECT_EQ(hosts.of(2).host, launch::Assignment::kNowhere);
  EXPECT_EQ(hosts.place(2, true),
            "other/1 needs 0 gpus, 100 of memory, and a has 0 gpus, 0 of memory left; b has 0 gpus, 50 of memory "
            "left");
}

}  // namespace
}  // namespace lp::test
