// Processes that call each other through shared memory are killed and stopped at random moments under load. Every call
// ends, with the right value or an error; `once` is once; and the living keep no memory of the dead.

#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <sstream>

#include "launchers/test_run.h"
#include "lp/base/random.h"
#include "tests/faults/storm_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

enum class Victim { store, storming };

class Storm {
 public:
  explicit Storm(Victim victim) : victim_(victim) {
    for (int i = 0; i < config_.stores; ++i) stores_.push_back(run_.client(store(i)));
    for (int i = 0; i < config_.callers; ++i) callers_.push_back(run_.client(storming(i)));
    for (auto& one : stores_) one.call<&Store::self>();
    for (auto& one : callers_) one.call<&Storming::self>();
    here_ = usage_now();
    // Its own bell and heap, and for each neighbour these and the lanes.
    const auto mappings = static_cast<std::uint64_t>(2 + 3 * (1 + config_.callers));
    for (auto& one : stores_) {
      auto& usage = there_.emplace_back();
      expect_soon([&] { return (usage = one.call<&Store::usage>()).mappings == mappings; }, "not all are connected");
    }
    for (std::uint64_t i = 0; i < 3; ++i) {
      threads_.push_back(spawn("storms", [this, i] { storm(stores_, config_.log, 0xf000'0000 | i, finished_); }));
    }
  }

  void hurt(int kills, int stops) {
    std::uint32_t last = 0;
    for (int i = 0; i < kills + stops; ++i) {
      const int which = static_cast<int>(random_.below(2));
      const Self self = self_of(which);
      last = std::max(last, self.incarnation);
      Event().wait(after(microseconds(random_.below(10'000))));
      const bool stops_now =
          random_.below(static_cast<std::uint64_t>(kills + stops)) < static_cast<std::uint64_t>(stops);
      if (stops_now) {
        ::kill(self.pid, SIGSTOP);
        Event().wait(after(milliseconds(random_.below(20))));
        if (random_.below(2) == 0) ::kill(self.pid, SIGKILL);
        ::kill(self.pid, SIGCONT);
      } else {
        ::kill(self.pid, SIGKILL);
      }
    }
    std::printf("the last incarnation that was hurt: %u\n", last);
  }

  void end() {
    finished_ = true;
    threads_.clear();
    for (auto& one : callers_) {
      one.call<&Storming::finish>();
      expect_soon([&] { return one.call<&Storming::has_finished>(); }, "a call does not end");
    }
  }

  // Small calls carry pending returns of memory along.
  void expect_nothing_left() {
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      Usage now_there;
      expect_soon(
          [&] {
            for (auto& one : callers_) one.call<&Storming::has_finished>();
            now_there = stores_[i].call<&Store::usage>();
            return now_there.heap == 0 && now_there.descriptors <= there_[i].descriptors &&
                   now_there.mappings <= there_[i].mappings;
          },
          "a store keeps something");
      show("store", there_[i], now_there);
    }
    Usage now_here;
    expect_soon(
        [&] {
          for (auto& one : stores_) one.call<&Store::self>();
          now_here = usage_now();
          return now_here.heap <= here_.heap && now_here.descriptors <= here_.descriptors &&
                 now_here.mappings <= here_.mappings;
        },
        "this process keeps something");
    show("here", here_, now_here);
  }

  void expect_right() const {
    EXPECT_EQ(contents(directory_.path() / "wrong"), "");
    std::map<std::uint64_t, std::map<int, int>> executed;  // by process
    std::istringstream executions(contents(directory_.path() / "executions"));
    for (std::uint64_t number = 0, pid = 0; executions >> number >> pid;) ++executed[number][static_cast<int>(pid)];
    for (const auto& [number, by_process] : executed) {
      for (const auto& [pid, times] : by_process) EXPECT_EQ(times, 1) << number << " in one incarnation";
    }
    std::istringstream outcomes(contents(directory_.path() / "outcomes"));
    std::size_t ended = 0;
    std::uint64_t number = 0;
    for (std::string how; outcomes >> number >> how; ++ended) {
      EXPECT_TRUE(how != "value" || executed.contains(number)) << number << " has a reply and never ran";
    }
    EXPECT_GT(ended, 10u);
    std::printf("%zu calls that run once\n", ended);
  }

 private:
  static Handle<Store> store(int i) { return Handle<Store>("store/" + std::to_string(i)); }
  static Handle<Storming> storming(int i) { return Handle<Storming>("storming/" + std::to_string(i)); }
  LaunchOptions options() const {
    LaunchOptions options = processes(config_, "storm");
    options.path = Path::shm;
    return options;
  }
  Self self_of(int which) {
    const auto i = static_cast<std::size_t>(which);
    return victim_ == Victim::store ? stores_[i].call<&Store::self>() : callers_[i].call<&Storming::self>();
  }
  template <class Condition>
  static void expect_soon(Condition condition, const char* what) {
    const Time end = after(seconds(30));
    while (!condition()) {
      if (passed(end)) {
        ADD_FAILURE() << what;
        return;
      }
      Event().wait(after(milliseconds(1)));
    }
  }
  static void show(const char* who, const Usage& before, const Usage& after) {
    std::printf("%s: %llu descriptors, %llu mappings, %llu bytes; before %llu, %llu, %llu\n", who,
                static_cast<unsigned long long>(after.descriptors), static_cast<unsigned long long>(after.mappings),
                static_cast<unsigned long long>(after.heap), static_cast<unsigned long long>(before.descriptors),
                static_cast<unsigned long long>(before.mappings), static_cast<unsigned long long>(before.heap));
  }

  const Victim victim_;
  const Directory directory_;
  const StormConfig config_{.log = directory_.path()};
  Random random_{20261, "kills", 0};
  std::vector<Client<Store>> stores_;
  std::vector<Client<Storming>> callers_;
  TestRun run_{make_storm(config_), options()};
  Usage here_;
  std::vector<Usage> there_;
  std::atomic<bool> finished_ = false;
  std::vector<Thread> threads_;
};

void survive(Victim victim, int kills, int stops) {
  Storm storm(victim);
  storm.hurt(kills, stops);
  storm.end();
  storm.expect_nothing_left();
  storm.expect_right();
}

TEST(Neighbours, SurviveTheKillsOfThoseTheyCall) { survive(Victim::store, 20, 2); }
TEST(Neighbours, SurviveTheKillsOfThoseThatCallThem) { survive(Victim::storming, 20, 2); }
TEST(NeighboursLong, SurviveTheKillsOfThoseTheyCall) { survive(Victim::store, 500, 50); }
TEST(NeighboursLong, SurviveTheKillsOfThoseThatCallThem) { survive(Victim::storming, 500, 50); }

}  // namespace
}  // namespace lp::test
