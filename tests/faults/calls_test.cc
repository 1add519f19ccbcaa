// Calls in flight when their service is killed end exactly as DESIGN.md says, proved by a log of what was executed that
// is outside the service's memory.

#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <set>
#include <sstream>

#include "launchers/test_run.h"
#include "lp/base/error.h"
#include "lp/base/random.h"
#include "tests/faults/programs_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

const Handle<Ledger> kLedger("ledger");

// The same method of the two Callers has the same name and types, so this stands for both.
class CallerLike {
 public:
  void finish() {}
  using Remote = Methods<&CallerLike::finish>;
};

struct Execution {
  char method = 0;
  std::uint64_t number = 0;
  std::uint32_t incarnation = 0;
};
struct Outcome {
  char method = 0;
  std::uint64_t number = 0;
  std::string how{};
};

std::vector<Execution> executions(const std::filesystem::path& directory) {
  std::istringstream in(contents(directory / "executions"));
  std::vector<Execution> all;
  for (Execution one; in >> one.method >> one.number >> one.incarnation;) all.push_back(one);
  return all;
}
std::vector<Outcome> outcomes(const std::filesystem::path& directory) {
  std::istringstream in(contents(directory / "outcomes"));
  std::vector<Outcome> all;
  for (Outcome one; in >> one.method >> one.number >> one.how;) all.push_back(one);
  return all;
}

// Kills the ledger `kills` times, at random moments of its life, then lets the callers finish.
std::vector<std::uint32_t> hurt(const Config& config, int kills, const std::filesystem::path& run_directory) {
  LaunchOptions options = processes(config, "ledger");
  options.directory = run_directory;
  std::vector<std::uint32_t> counts;
  options.report = [&](Run& run) { counts = run.client(kLedger).call<&Ledger::counts>(); };
  TestRun run(make_ledger(config), options);
  const auto ledger = run.client(kLedger);
  Random random(20240, "kills", 0);
  std::uint32_t killed = 0;
  for (int kill_number = 0; kill_number < kills; ++kill_number) {
    const Ledger::Self self = ledger.call<&Ledger::self>();
    EXPECT_GT(self.incarnation, killed) << "a killed incarnation answered";
    Event().wait(after(microseconds(random.below(15'000))));
    killed = self.incarnation;
    kill(self.pid, SIGKILL);
  }
  EXPECT_GT(ledger.call<&Ledger::self>().incarnation, killed);
  const auto caller = [&](int i) { return run.client(Handle<CallerLike>("caller/" + std::to_string(i))); };
  for (int i = 1; i < config.nodes; ++i) caller(i).call<&CallerLike::finish>();
  caller(0).send<&CallerLike::finish>();  // it ends the program, maybe before it could reply
  EXPECT_TRUE(run.wait_for(seconds(90))) << "a call does not end";
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
  return counts;
}

void check_calls(const std::filesystem::path& directory) {
  std::map<std::pair<char, std::uint64_t>, std::map<std::uint32_t, int>> executed;  // by incarnation
  for (const Execution& one : executions(directory)) ++executed[{one.method, one.number}][one.incarnation];
  const std::vector<Outcome> ended = outcomes(directory);
  std::map<std::string, int> table;
  std::set<std::pair<char, std::uint64_t>> seen;
  for (const Outcome& one : ended) {
    EXPECT_TRUE(seen.insert({one.method, one.number}).second) << "ended twice";
    int times = 0;
    int most = 0;
    for (const auto& [incarnation, count] : executed[{one.method, one.number}]) {
      times += count;
      most = std::max(most, count);
    }
    const std::string what = std::string(1, one.method) + " " + std::to_string(one.number) + ": " + one.how + ", " +
                             std::to_string(times) + " times";
    ++table[std::string(1, one.method) + " " + one.how + ", executed " +
            (times > 1 ? "more often" : std::to_string(times))];
    switch (one.method) {
      case 'p':
        EXPECT_TRUE(one.how == "value" || one.how == "disconnected+") << what;
        EXPECT_LE(times, 1) << what;
        EXPECT_TRUE(one.how != "value" || times == 1) << what;
        break;
      case 'i':
        EXPECT_EQ(one.how, "value") << what;
        EXPECT_GE(times, 1) << what;
        break;
      default:
        EXPECT_EQ(one.how, "value") << what;
        EXPECT_GE(times, 1) << what;
        EXPECT_EQ(most, 1) << what << " in one incarnation";
    }
  }
  for (const auto& [call, by_incarnation] : executed) EXPECT_TRUE(seen.contains(call)) << "has no end";
  EXPECT_GT(ended.size(), 100u);
  for (const auto& [kind, count] : table) std::printf("%8d  %s\n", count, kind.c_str());
}

void kill_often(int kills) {
  const Directory directory;
  hurt({.log = directory.path()}, kills, {});
  check_calls(directory.path());
}

// With a service whose table is part of a cut: what is in the cut never runs again.
void kill_often_with_cuts(int kills) {
  const Directory directory;
  const std::vector<std::uint32_t> counts =
      hurt({.log = directory.path(), .cuts = true}, kills, directory.path() / "run");
  check_calls(directory.path());
  std::size_t executed = 0;
  for (std::size_t number = 0; number < counts.size(); ++number) {
    EXPECT_LE(counts[number], 1u) << "number " << number << " was executed again in what was restored";
    executed += counts[number];
  }
  EXPECT_GT(executed, 10u);
}

// A cut that a handler takes knows that this very call was done.
TEST(Calls, OnceIsOnceThoughItsOwnCutIsWhatIsRestored) {
  const Directory directory;
  const Config config{.log = directory.path(), .nodes = 1, .cuts = true};
  LaunchOptions options = processes(config, "ledger");
  options.directory = directory.path() / "run";
  options.idle = {"caller"};
  TestRun run(make_ledger(config), options);
  const auto ledger = run.client(Handle<SavingLedger>("ledger"));
  EXPECT_EQ(ledger.numbered(1).call<&SavingLedger::once>(5), Ledger::answer(5));
  const Time end = after(seconds(20));
  while (run.status().cut < 1 && now() < end) {
  }
  kill(run.client(kLedger).call<&Ledger::self>().pid, SIGKILL);
  EXPECT_EQ(ledger.numbered(1).call<&SavingLedger::once>(5), Ledger::answer(5));
  EXPECT_EQ(run.client(kLedger).call<&Ledger::self>().incarnation, 2u);
  EXPECT_EQ(executions(directory.path()).size(), 1u);
  EXPECT_EQ(run.client(kLedger).call<&Ledger::counts>().at(5), 1u);
}

TEST(Calls, InFlightEndAsTheirMethodSaysWhenTheirServiceIsKilled) { kill_often(15); }
TEST(Calls, OnceIsOnceInWhatIsRestored) { kill_often_with_cuts(15); }
TEST(CallsLong, InFlightEndAsTheirMethodSaysWhenTheirServiceIsKilled) { kill_often(500); }
TEST(CallsLong, OnceIsOnceInWhatIsRestored) { kill_often_with_cuts(500); }

}  // namespace
}  // namespace lp::test
