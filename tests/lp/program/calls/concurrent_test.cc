// A method that runs beside the turn holds nothing else up, on every path: not the other methods of its service, of the
// same caller or another, and calls of its own in the number that it allows.

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/on_each_path.h"

namespace lp {
namespace {

// Set from without the program.
struct Door {
  Event inside{};
  std::array<Event, 2> open{};  // by the argument of the call; once set, it stays so
};

class Doorkeeper {
 public:
  explicit Doorkeeper(Door* door) : door_(*door) {}
  int alone(int x) { return pass(x); }
  int among_two(int x) { return pass(x); }
  int next(int x) { return x + 1; }  // in turn
  using Remote = Methods<concurrent<&Doorkeeper::alone, 1>, concurrent<&Doorkeeper::among_two, 2>, &Doorkeeper::next>;

 private:
  int pass(int x) {
    door_.inside.set();
    Event& open = door_.open[static_cast<std::size_t>(x) % 2];
    open.wait();
    open.set();  // for the next
    return x;
  }

  Door& door_;
};

class Concurrent : public ::testing::TestWithParam<Reach> {
 protected:
  Door door_;
  Program program_{"concurrent"};
  const Handle<Doorkeeper> service_ = program_.add<Doorkeeper>({.name = "service"}, &door_);
  ReachedRun run_{program_, GetParam()};
  const Client<Doorkeeper> client_ = run_.client(service_);
};
INSTANTIATE_TEST_SUITE_P(Paths, Concurrent, kEachPath, reach_name);

TEST_P(Concurrent, ACallThatRunsAloneHoldsUpNoOtherMethod) {
  auto waits = client_.async<&Doorkeeper::alone>(1);
  EXPECT_EQ(client_.call<&Doorkeeper::next>(1), 2);  // perhaps sent together with it
  door_.inside.wait();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(client_.call<&Doorkeeper::next>(i), i + 1);
  EXPECT_FALSE(waits.ready());
  door_.open[1].set();
  EXPECT_EQ(waits.get(), 1);
}

TEST_P(Concurrent, CallsThatRunAloneRunOneAfterTheOther) {
  std::vector<Future<int>> calls;
  for (int i = 0; i < 20; ++i) calls.push_back(client_.async<&Doorkeeper::alone>(i));
  door_.inside.wait();
  EXPECT_EQ(client_.call<&Doorkeeper::next>(1), 2);
  for (Event& open : door_.open) open.set();
  const std::vector<int> results = when_all(std::move(calls)).get();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)], i);
}

TEST_P(Concurrent, TwoCallsRunBesideEachOtherWhereTwoMay) {
  auto first = client_.async<&Doorkeeper::among_two>(1);
  door_.inside.wait();
  auto second = client_.async<&Doorkeeper::among_two>(2);
  door_.inside.wait();
  EXPECT_EQ(client_.call<&Doorkeeper::next>(1), 2);
  for (Event& open : door_.open) open.set();
  EXPECT_EQ(first.get() + second.get(), 3);
}

}  // namespace
}  // namespace lp
