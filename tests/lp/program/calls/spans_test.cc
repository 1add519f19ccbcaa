// The spans that a program's calls leave, by every path: their records belong together, and follow what causes what.

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "lp/lp.h"
#include "lp/rpc/node_thread.h"
#include "tests/lp/program/on_each_path.h"

namespace lp {
namespace {

using SpanKind = SpanRecord::Kind;

class Ledger {
 public:
  int plain(int x) {
    const Span span("decode");
    return x + 1;
  }
  void fail() { throw std::runtime_error("it fails"); }
  Future<int> later() { return later_.emplace_back().future(); }
  void bring() {
    const Span span("bring");
    for (Promise<int>& one : later_) one.set_value(1);
    later_.clear();
  }
  void note() {}
  std::vector<int> many(std::vector<int> items) {
    const Span span("all of them");
    return items;
  }
  using Remote = Methods<&Ledger::plain, &Ledger::fail, &Ledger::later, &Ledger::bring, &Ledger::note,
                         batched<&Ledger::many, 2, 60_s>>;

 private:
  std::vector<Promise<int>> later_{};
};

Program program_with(Function<void(Context&, Client<Ledger>)> body) {
  Program made("spans");
  auto ledger = made.add<Ledger>({.name = "service"});
  made.function(
      {.name = "caller"},
      [body = std::make_shared<Function<void(Context&, Client<Ledger>)>>(std::move(body))](
          Context& context, Client<Ledger> client) { (*body)(context, client); },
      ledger);
  return made;
}

// The records of a run, until all that are expected are there.
class Trace {
 public:
  explicit Trace(ReachedRun& run) : run_(run) { start({.share = 1}); }

  void start(const Sampling& sampling) {
    run_.calling().runtime().spans().start(sampling);
    run_.serving().runtime().spans().start(sampling);
  }

  // Waits for the record: those of handlers come after the reply.
  SpanRecord wait_for(SpanKind kind, const std::string& name) { return wait_for({kind, kind}, name); }
  // The record of a call at its caller, whether it has run on the caller's stack or not.
  SpanRecord wait_for_call(const std::string& name) { return wait_for({SpanKind::call, SpanKind::direct}, name); }
  const std::vector<SpanRecord>& take() {
    for (LocalRun* part : {&run_.calling(), &run_.serving()}) {
      for (const SpanRecord& one : part->runtime().spans().take(std::numeric_limits<std::size_t>::max()).records) {
        records_.push_back(one);
      }
    }
    return records_;
  }

 private:
  SpanRecord wait_for(std::array<SpanKind, 2> kinds, const std::string& name) {
    for (const Time end = after(std::chrono::seconds(20)); !passed(end);) {
      for (const SpanRecord& record : take()) {
        if ((record.kind == kinds[0] || record.kind == kinds[1]) && record.name() == name) return record;
      }
    }
    ADD_FAILURE() << name << " is never recorded";
    return {};
  }

  ReachedRun& run_;
  std::vector<SpanRecord> records_;
};

void run_caller(ReachedRun& run) {
  run.calling().start_one("caller", 1, /*others=*/&run.calling() == &run.serving() ? 1 : 0);
  run.calling().runtime().run(run.calling().id("caller"));
}

bool contains(const SpanRecord& outer, const SpanRecord& inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

class SpansTest : public testing::TestWithParam<Reach> {
 protected:
  // Runs `body` as the run() of the node "caller", and waits for its end.
  void run(Function<void(Context&, Client<Ledger>)> body) {
    program_.emplace(program_with(std::move(body)));
    run_.emplace(*program_, GetParam());
    trace_.emplace(*run_);
    run_caller(*run_);
    run_->calling().wait_ended(1);
  }
  Trace& trace() { return *trace_; }
  NodeId id(const std::string& node) { return run_->calling().id(node); }

 private:
  std::optional<Program> program_;
  std::optional<ReachedRun> run_;
  std::optional<Trace> trace_;
};
INSTANTIATE_TEST_SUITE_P(EachPath, SpansTest, kEachPath, reach_name);

TEST_P(SpansTest, ACallItsHandlerAndThePartsOfTheHandler) {
  run([](Context&, Client<Ledger> ledger) { EXPECT_EQ(ledger.call<&Ledger::plain>(1), 2); });
  const SpanRecord call = trace().wait_for_call("plain");
  const SpanRecord part = trace().wait_for(SpanKind::own, "decode");
  EXPECT_NE(call.id, 0U);
  EXPECT_EQ(call.parent, 0U);
  EXPECT_NE(call.chain, 0U);
  EXPECT_EQ(call.node, id("caller"));
  EXPECT_EQ(call.kind == SpanKind::direct, GetParam() == Reach::direct);
  EXPECT_EQ(call.other, id("service"));
  EXPECT_FALSE(call.failed);
  EXPECT_EQ(part.parent, call.id);
  EXPECT_EQ(part.node, id("service"));
  EXPECT_TRUE(contains(call, part));
  if (call.kind == SpanKind::direct) return;
  const SpanRecord handler = trace().wait_for(SpanKind::handler, "plain");
  EXPECT_EQ(handler.id, call.id);
  EXPECT_EQ(handler.chain, call.chain);
  EXPECT_EQ(handler.node, id("service"));
  EXPECT_EQ(handler.other, id("caller"));
  EXPECT_LE(call.begin, handler.arrived);
  EXPECT_LE(handler.arrived, handler.begin);
  EXPECT_LE(handler.begin, handler.end);
  EXPECT_LE(handler.end, handler.replied);
  EXPECT_LE(handler.replied, call.end);
  EXPECT_TRUE(contains(handler, part));
  EXPECT_EQ(handler.thread, part.thread);
}

TEST_P(SpansTest, SpansLieInOneAnother) {
  run([](Context&, Client<Ledger> ledger) {
    const Span outer("outer");
    {
      const Span inner("inner");
      ledger.call<&Ledger::note>();
    }
    auto second = ledger.async<&Ledger::bring>();
    second.get();
  });
  const SpanRecord outer = trace().wait_for(SpanKind::own, "outer");
  const SpanRecord inner = trace().wait_for(SpanKind::own, "inner");
  EXPECT_EQ(outer.parent, 0U);
  EXPECT_EQ(inner.parent, outer.id);
  EXPECT_EQ(trace().wait_for_call("note").parent, inner.id);
  EXPECT_EQ(trace().wait_for(SpanKind::call, "bring").parent, outer.id);
  EXPECT_TRUE(contains(outer, inner));
}

TEST_P(SpansTest, AHandlerThatReturnsAFutureIsOpenUntilItsValueIsThere) {
  run([](Context&, Client<Ledger> ledger) {
    auto later = ledger.async<&Ledger::later>();
    ledger.call<&Ledger::bring>();
    later.get();
  });
  const SpanRecord call = trace().wait_for(SpanKind::call, "later");
  const SpanRecord handler = trace().wait_for(SpanKind::handler, "later");
  const SpanRecord bring = trace().wait_for(SpanKind::own, "bring");
  EXPECT_EQ(handler.id, call.id);
  EXPECT_LE(handler.end, bring.end);
  EXPECT_LE(bring.begin, handler.replied);
  EXPECT_LE(handler.replied, call.end);
}

TEST_P(SpansTest, ContinuationsFollowTheCodeThatHasAttachedThem) {
  run([](Context&, Client<Ledger> ledger) {
    const Span outer("outer");
    ledger.async<&Ledger::plain>(1).then([ledger](int) { return ledger.async<&Ledger::note>(); }).get();
  });
  const SpanRecord outer = trace().wait_for(SpanKind::own, "outer");
  EXPECT_EQ(trace().wait_for(SpanKind::call, "plain").parent, outer.id);
  EXPECT_EQ(trace().wait_for(SpanKind::call, "note").parent, outer.id);
}

// A coroutine that waits within its span.
Future<void> waits_in_a_span(Client<Ledger> ledger) {
  const Span span("coroutine");
  auto value = ledger.async<&Ledger::later>();
  co_await value;
  auto second = ledger.async<&Ledger::plain>(1);
  co_await second;
}

TEST_P(SpansTest, ACoroutineTakesItsSpanAlongAndLeavesItsCallerAlone) {
  run([](Context&, Client<Ledger> ledger) {
    const Span outer("outer");
    auto done = waits_in_a_span(ledger);
    ledger.call<&Ledger::bring>();
    done.get();
    ledger.call<&Ledger::note>();
  });
  const SpanRecord outer = trace().wait_for(SpanKind::own, "outer");
  const SpanRecord coroutine = trace().wait_for(SpanKind::own, "coroutine");
  EXPECT_EQ(coroutine.parent, outer.id);
  EXPECT_EQ(trace().wait_for(SpanKind::call, "later").parent, coroutine.id);
  EXPECT_EQ(trace().wait_for(SpanKind::call, "plain").parent, coroutine.id);
  EXPECT_EQ(trace().wait_for_call("bring").parent, outer.id);
  EXPECT_EQ(trace().wait_for_call("note").parent, outer.id);
  EXPECT_TRUE(contains(outer, coroutine));
}

TEST_P(SpansTest, AFurtherThreadOfANodeBelongsToTheCodeThatBeganIt) {
  run([](Context&, Client<Ledger> ledger) {
    const Span outer("outer");
    spawn_in_node("further", [ledger] { ledger.call<&Ledger::note>(); }).join();
  });
  EXPECT_EQ(trace().wait_for_call("note").parent, trace().wait_for(SpanKind::own, "outer").id);
}

TEST_P(SpansTest, ExclusiveCodeIsASpan) {
  run([](Context& context, Client<Ledger> ledger) { context.exclusive([&] { ledger.call<&Ledger::note>(); }); });
  EXPECT_EQ(trace().wait_for_call("note").parent, trace().wait_for(SpanKind::own, "exclusive").id);
}

TEST_P(SpansTest, ACallThatFailsIsMarked) {
  run([](Context&, Client<Ledger> ledger) { EXPECT_THROW(ledger.call<&Ledger::fail>(), Error); });
  const SpanRecord call = trace().wait_for_call("fail");
  EXPECT_TRUE(call.failed);
  if (call.kind == SpanKind::call) {
    EXPECT_TRUE(trace().wait_for(SpanKind::handler, "fail").failed);
  }
}

TEST_P(SpansTest, ACallWithoutAReplyEndsWhenItIsOnItsWay) {
  run([](Context&, Client<Ledger> ledger) {
    ledger.send<&Ledger::note>();
    ledger.call<&Ledger::bring>();
  });
  const bool stays = GetParam() == Reach::direct;
  const SpanRecord call = trace().wait_for(stays ? SpanKind::call : SpanKind::sent, "note");
  EXPECT_FALSE(call.failed);
  EXPECT_EQ(trace().wait_for(SpanKind::handler, "note").id, call.id);
}

TEST_P(SpansTest, ABatchBelongsToTheFirstOfItsCalls) {
  run([](Context&, Client<Ledger> ledger) {
    auto first = ledger.async<&Ledger::many>(1);
    auto second = ledger.async<&Ledger::many>(2);
    first.get();
    second.get();
  });
  const SpanRecord batch = trace().wait_for(SpanKind::own, "all of them");
  trace().wait_for(SpanKind::handler, "many");
  std::vector<SpanRecord> handlers;
  for (const Time end = after(std::chrono::seconds(20)); handlers.size() < 2 && !passed(end);) {
    handlers.clear();
    for (const SpanRecord& one : trace().take()) {
      if (one.kind == SpanKind::handler && one.name() == "many") handlers.push_back(one);
    }
  }
  ASSERT_EQ(handlers.size(), 2U);
  EXPECT_TRUE(std::any_of(handlers.begin(), handlers.end(), [&](const auto& one) { return one.id == batch.parent; }));
  for (const SpanRecord& handler : handlers) EXPECT_TRUE(contains(handler, batch));
}

TEST_P(SpansTest, NothingIsRecordedBelowARootThatIsNot) {
  const Program made = program_with([](Context&, Client<Ledger> ledger) {
    const Span outer("outer");
    ledger.call<&Ledger::plain>(1);
    ledger.async<&Ledger::plain>(1).get();
  });
  ReachedRun run(made, GetParam());
  Trace trace(run);
  trace.start({.share = 0});
  run_caller(run);
  run.calling().wait_ended(1);
  EXPECT_TRUE(trace.take().empty());
}

}  // namespace
}  // namespace lp
