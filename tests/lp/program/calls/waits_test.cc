// Runtime::waits() of nodes that wait.

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/on_each_path.h"

namespace lp {
namespace {

using For = WaitingThread::For;
using CallState = OpenCall::State;

class Desk {
 public:
  Future<int> later() { return later_.emplace_back().future(); }
  void bring() {
    for (Promise<int>& one : later_) one.set_value(1);
    later_.clear();
  }
  void in_turn() { gate_.future().get(); }
  void open_gate() { gate_.set_value(); }
  Stream<int> rows() {
    for (int i = 0;; ++i) co_yield i;
  }
  using Remote = Methods<&Desk::later, &Desk::bring, &Desk::in_turn, concurrent<&Desk::open_gate, 2>, &Desk::rows>;

 private:
  std::vector<Promise<int>> later_{};
  Promise<void> gate_{};
};

template <class Matches>
void wait_until(Runtime& runtime, Matches matches) {
  for (const Time end = after(std::chrono::seconds(20)); !matches(runtime.waits());) {
    ASSERT_FALSE(passed(end)) << "it is never reported";
  }
}

const NodeWaits* find(const ProcessWaits& waits, const std::string& node) {
  const auto at =
      std::find_if(waits.nodes.begin(), waits.nodes.end(), [&](const NodeWaits& one) { return one.node == node; });
  return at == waits.nodes.end() ? nullptr : &*at;
}

bool has_call(const ProcessWaits& waits, const std::string& method, CallState state) {
  return std::any_of(waits.calls.begin(), waits.calls.end(),
                     [&](const OpenCall& call) { return call.method == method && call.state == state; });
}

class WaitsTest : public testing::TestWithParam<Reach> {
 protected:
  static Program program() {
    Program made("waits");
    auto desk = made.add<Desk>({.name = "service"});
    made.function(
        {.name = "caller"}, [](Client<Desk> one) { one.call<&Desk::later>(); }, desk);
    return made;
  }
};
INSTANTIATE_TEST_SUITE_P(EachPath, WaitsTest, kEachPath, reach_name);

TEST_P(WaitsTest, ACallWhoseHandlerHasReturnedAFuture) {
  const Program made = program();
  ReachedRun run(made, GetParam());
  run.calling().start_one("caller", 1, /*others=*/&run.calling() == &run.serving() ? 1 : 0);
  run.calling().runtime().run(run.calling().id("caller"));
  std::uint64_t chain = 0;
  wait_until(run.calling().runtime(), [&](const ProcessWaits& waits) {
    const NodeWaits* const caller = find(waits, "caller");
    if (caller == nullptr || caller->threads.empty() || caller->run_thread == 0) return false;
    const WaitingThread& thread = caller->threads.front();
    EXPECT_EQ(thread.thread, caller->run_thread);
    EXPECT_EQ(thread.what, For::reply);
    EXPECT_EQ(thread.callee, "service");
    EXPECT_EQ(thread.method, "later");
    EXPECT_GT(thread.left.value_or(0), 0);
    chain = thread.call_chain;
    return true;
  });
  wait_until(run.serving().runtime(), [&](const ProcessWaits& waits) {
    return std::any_of(waits.calls.begin(), waits.calls.end(), [&](const OpenCall& call) {
      return call.state == CallState::open && call.caller == "caller" && call.chain == chain;
    });
  });
  run.client(made.handle<Desk>("service")).call<&Desk::bring>();
  run.calling().wait_ended(1);
  const ProcessWaits after = run.serving().runtime().waits();
  EXPECT_FALSE(has_call(after, "later", CallState::open));
}

// A short wait that may be repeated is no deadline: the call has its own.
TEST(Waits, AWaitInSlicesHasTheDeadlineOfItsCall) {
  for (const Duration limit : {Duration(std::chrono::seconds(1000)), kForever}) {
    Program made("waits");
    auto desk = made.add<Desk>({.name = "service"});
    made.function(
        {.name = "caller"},
        [limit](Client<Desk> one) {
          EXPECT_TRUE(one.within(limit).async<&Desk::later>().wait_for(std::chrono::seconds(50)));
        },
        desk);
    LocalRun run(made);
    wait_until(run.runtime(), [&](const ProcessWaits& waits) {
      const NodeWaits* const caller = find(waits, "caller");
      if (caller == nullptr || caller->threads.empty() || !has_call(waits, "later", CallState::open)) return false;
      const std::optional<double> left = caller->threads.front().left;
      EXPECT_EQ(left.has_value(), limit != kForever);
      EXPECT_GT(left.value_or(1000), 900);
      return true;
    });
    run.client(desk).call<&Desk::bring>();
    run.wait_ended(1);
  }
}

TEST_P(WaitsTest, AHandlerThatWaitsInItsTurn) {
  const Program made = program();
  ReachedRun run(made, GetParam());
  auto desk = run.client(made.handle<Desk>("service"));
  auto held = desk.async<&Desk::in_turn>();
  auto behind = desk.async<&Desk::bring>();
  wait_until(run.serving().runtime(), [&](const ProcessWaits& waits) {
    const NodeWaits& node = *find(waits, "service");
    if (!node.turn.has_value() || node.queue != 1 || node.threads.empty()) return false;
    EXPECT_EQ(node.turn->work, "in_turn");
    EXPECT_EQ(node.turn->thread, node.threads.front().thread);
    EXPECT_EQ(node.threads.front().what, For::future);
    EXPECT_TRUE(has_call(waits, "bring", CallState::queued));
    return true;
  });
  desk.call<&Desk::open_gate>();
  held.get();
  behind.get();
}

TEST_P(WaitsTest, AStreamWhoseReaderTakesNothing) {
  const Program made = program();
  ReachedRun run(made, GetParam());
  auto rows = run.client(made.handle<Desk>("service")).stream<&Desk::rows>();
  wait_until(run.serving().runtime(),
             [](const ProcessWaits& waits) { return has_call(waits, "rows", CallState::paused); });
  for (std::uint64_t i = 0; i < 2 * kStreamWindow; ++i) rows.next();
  wait_until(run.serving().runtime(),
             [](const ProcessWaits& waits) { return has_call(waits, "rows", CallState::paused); });
}

TEST(Waits, ACallToANodeThatIsNotUpIsHeld) {
  Program made("waits");
  auto desk = made.add<Desk>({.name = "service"});
  LocalRun run(made, {}, LocalRun::kNothingHere);
  auto later = run.client(desk).async<&Desk::later>();
  EXPECT_TRUE(has_call(run.runtime().waits(), "later", CallState::held));
}

TEST(Waits, VersionsThatReadersHold) {
  struct Shelf {
    void publish() { book.publish({1, 2}); }
    Published<std::vector<float>> book{1};
    using Remote = Methods<&Shelf::publish, &Shelf::book>;
  };
  Program made("waits");
  auto shelf = made.add<Shelf>({.name = "shelf"});
  LocalRun run(made);
  auto client = run.client(shelf);
  client.call<&Shelf::publish>();
  EXPECT_TRUE(find(run.runtime().waits(), "shelf")->versions.empty());
  const Version<std::vector<float>> held = client.read<&Shelf::book>();
  client.call<&Shelf::publish>();
  const NodeWaits waits = *find(run.runtime().waits(), "shelf");
  ASSERT_EQ(waits.versions.size(), 1U);
  EXPECT_EQ(waits.versions[0].held, 1U);
  EXPECT_EQ(waits.versions[0].oldest, 1U);
  EXPECT_EQ(waits.versions[0].newest, 2U);
}

TEST(Waits, RunThatSleeps) {
  Program made("waits");
  made.function({.name = "sleeper"}, [](Context& context) { context.wait_for_stop(); });
  LocalRun run(made);
  wait_until(run.runtime(), [](const ProcessWaits& waits) {
    const NodeWaits& node = *find(waits, "sleeper");
    return node.run_thread != 0 && node.threads.size() == 1 && node.threads[0].what == For::time &&
           node.threads[0].thread == node.run_thread && !node.threads[0].left.has_value();
  });
}

}  // namespace
}  // namespace lp
