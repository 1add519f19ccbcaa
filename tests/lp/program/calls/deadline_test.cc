// The outermost deadline of a chain of calls holds for all of it, on every path: no handler waits longer, and a call
// that could not begin in time does not run.

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/on_each_path.h"

namespace lp {
namespace {

constexpr Duration kPrecision = std::chrono::milliseconds(50);
constexpr Duration kMuchLater = std::chrono::seconds(5);

struct Events {
  Event held{};                     // somebody has the turn of the last service
  Event free{};                     // ends that
  std::atomic<bool> began = false;  // the handler that calls it has begun
  Event ended{};                    // and has ended
};

class Busy {
 public:
  explicit Busy(Events* events) : events_(*events) {}
  void hold() {
    events_.held.set();
    events_.free.wait();
  }
  void work() { ++worked_; }
  int worked() { return worked_; }
  using Remote = Methods<&Busy::hold, &Busy::work, &Busy::worked>;

 private:
  Events& events_;
  int worked_ = 0;
};

class Sleeper {
 public:
  Sleeper(Client<Busy> busy, Events* events) : busy_(busy), events_(*events) {}
  void ready() {}
  void work() {
    events_.began = true;
    try {
      busy_.call<&Busy::work>();
    } catch (const Error&) {
      events_.ended.set();
      throw;
    }
    events_.ended.set();
  }
  std::vector<int> work_together(std::vector<int> items) {
    work();
    return items;
  }
  using Remote = Methods<&Sleeper::ready, &Sleeper::work, batched<&Sleeper::work_together, 2, 1_ms>>;

 private:
  Client<Busy> busy_;
  Events& events_;
};

class SlowRelay {
 public:
  explicit SlowRelay(Client<Sleeper> service) : service_(service) {}
  void ready() { service_.call<&Sleeper::ready>(); }
  void work() { service_.call<&Sleeper::work>(); }
  void work_together() { service_.call<&Sleeper::work_together>(1); }
  using Remote = Methods<&SlowRelay::ready, &SlowRelay::work, &SlowRelay::work_together>;

 private:
  Client<Sleeper> service_;
};

class Deadline : public ::testing::TestWithParam<Reach> {
 protected:
  void SetUp() override {
    run_.serving().start_one("busy", 1, /*others=*/1);
    run_.calling().start_one("relay", 1, /*others=*/&run_.calling() == &run_.serving() ? 2 : 0);
  }
  // Makes the call of a chain of three whose last service is busy until all before it have given up.
  template <auto M>
  void expect_in_time() {
    const auto busy = run_.serving().client(busy_);
    const Thread holder = spawn("holder", [&] { busy.call<&Busy::hold>(); });
    events_.held.wait();
    run_.client(relay_).call<&SlowRelay::ready>();  // the service is reached
    const Time begin = now();
    try {
      run_.client(relay_).within(kPrecision).template call<M>();
      ADD_FAILURE() << "it did not end";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::deadline) << error.what();
    }
    if (events_.began) {  // as it does unless the machine is very busy
      EXPECT_TRUE(events_.ended.wait(begin + kMuchLater)) << "a handler waits for longer";
    }
    EXPECT_LT(now() - begin, kMuchLater);
    events_.free.set();
    EXPECT_EQ(busy.call<&Busy::worked>(), 0) << "a call ran after its time";
  }

  Events events_;
  Program program_{"deadline"};
  const Handle<Busy> busy_ = program_.add<Busy>({.name = "busy"}, &events_);
  const Handle<Sleeper> service_ = program_.add<Sleeper>({.name = "service"}, busy_, &events_);
  const Handle<SlowRelay> relay_ = program_.add<SlowRelay>({.name = "relay"}, service_);
  ReachedRun run_{program_, GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Paths, Deadline, kEachPath, reach_name);

TEST_P(Deadline, OfTheOutermostCallHoldsForThoseThreeDeep) { expect_in_time<&SlowRelay::work>(); }
TEST_P(Deadline, OfTheCallsInABatchHoldsForIt) { expect_in_time<&SlowRelay::work_together>(); }

}  // namespace
}  // namespace lp
