// An error's may_have_run() is true whenever the handler ran, however its call ended, on every path.

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/on_each_path.h"

namespace lp {
namespace {

struct Inside {
  Event event{};
  std::atomic<int> begun = 0;    // handlers
  std::optional<Error> error{};  // the end of the caller's call
  Event lost{};                  // the caller's call has failed
  Event stopped{};               // the caller was asked to stop
};

class Absent {
 public:
  void method() {}
  using Remote = Methods<&Absent::method>;
};

class LoggingService {
 public:
  LoggingService(Client<Absent> absent, Inside* inside) : absent_(absent), inside_(*inside) {}
  Future<int> never() {
    ++inside_.begun;
    waiting_.emplace_back();
    inside_.event.set();
    return waiting_.back().future();
  }
  int again() {
    Promise<int> never;
    inside_.event.set();
    return never.future().get();
  }
  Stream<int> watch() {
    inside_.event.set();
    return feed_.stream();
  }
  int begun() const { return inside_.begun; }
  void begin_absent() { held_ = absent_.async<&Absent::method>(); }
  void await_absent() {
    try {
      held_.get();
    } catch (const Error& error) {
      inside_.error = error;
      inside_.event.set();
      throw;
    }
  }
  void call_absent() { absent_.within(std::chrono::milliseconds(1)).call<&Absent::method>(); }
  using Remote = Methods<&LoggingService::never, idempotent<&LoggingService::again>, &LoggingService::watch,
                         &LoggingService::begun, &LoggingService::call_absent, &LoggingService::begin_absent,
                         &LoggingService::await_absent>;

 private:
  Client<Absent> absent_;
  Inside& inside_;
  std::vector<Promise<int>> waiting_;
  Future<void> held_;
  Feed<int> feed_;
};

enum class CallKind { async, stream, held, lost };  // held: the service is not up; lost: it ends before the call does

// CallKind the service until it is stopped.
class Caller {
 public:
  Caller(Client<LoggingService> service, CallKind calls, Inside* inside)
      : service_(service), calls_(calls), inside_(*inside) {}
  void run(Context&) {
    try {
      if (calls_ == CallKind::stream) {
        service_.stream<&LoggingService::watch>().next();
      } else {
        Future<int> reply = service_.async<&LoggingService::never>();
        if (calls_ == CallKind::held) inside_.event.set();
        if (calls_ == CallKind::lost) wait_until_stopped(reply);
        reply.get();
      }
    } catch (const Error& error) {
      inside_.error = error;
      throw;
    }
  }

 private:
  void wait_until_stopped(Future<int>& reply) {
    EXPECT_TRUE(reply.wait_for(std::chrono::seconds(20))) << "it is lost";
    inside_.lost.set();
    inside_.stopped.wait();
  }

  Client<LoggingService> service_;
  const CallKind calls_;
  Inside& inside_;
};

class MayHaveRun : public ::testing::TestWithParam<Reach> {
 protected:
  ReachedRun& start(CallKind calls = CallKind::async) {
    const auto absent = program_.declare<Absent>({.name = "absent"});
    program_.define(absent);
    program_.define(service_, absent, &inside_);
    program_.add<Caller>({.name = "caller"}, service_, calls, &inside_);
    return run_.emplace(program_, GetParam());
  }
  void stop_caller(bool may_have_run = true) {
    LocalRun& calling = run_->calling();
    calling.start_one("caller", 1, /*others=*/&calling == &run_->serving() ? 1 : 0);
    calling.runtime().run(calling.id("caller"));
    inside_.event.wait();
    calling.runtime().stop(calling.id("caller"), "enough");
    ASSERT_TRUE(calling.runtime().join(calling.id("caller"), after(std::chrono::seconds(20))));
    ASSERT_TRUE(inside_.error.has_value());
    EXPECT_EQ(inside_.error->kind(), ErrorKind::stopped);
    EXPECT_EQ(inside_.error->may_have_run(), may_have_run);
  }
  template <class F>
  static void expect_ran(ErrorKind kind, F f) {
    try {
      f();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_TRUE(error.may_have_run()) << error.what();
    }
  }

  Inside inside_;
  Program program_{"ran"};
  const Handle<LoggingService> service_ = program_.declare<LoggingService>({.name = "service"});
  std::optional<ReachedRun> run_;
};
INSTANTIATE_TEST_SUITE_P(Paths, MayHaveRun, kEachPath, reach_name);

TEST_P(MayHaveRun, WhenAStreamEndsWithItsDeadline) {
  const auto client = start().client(service_).within(std::chrono::milliseconds(30));
  std::vector<StreamReader<int>> readers;
  do {
    readers.push_back(client.stream<&LoggingService::watch>());
  } while (!inside_.event.wait(after(std::chrono::seconds(1))));  // the handler began in time
  expect_ran(ErrorKind::deadline, [&] { readers.back().next(); });
}

TEST_P(MayHaveRun, WhenTheCallersNodeIsStopped) {
  start();
  stop_caller();
}

TEST_P(MayHaveRun, WhenTheCallersNodeIsStoppedAfterItsCallWasLost) {
  start(CallKind::lost);
  LocalRun& calling = run_->calling();
  LocalRun& serving = run_->serving();
  calling.start_one("caller", 1, /*others=*/&calling == &serving ? 1 : 0);
  calling.runtime().run(calling.id("caller"));
  inside_.event.wait();
  serving.runtime().stop(serving.id("service"), "it ends");
  ASSERT_TRUE(serving.runtime().join(serving.id("service"), after(std::chrono::seconds(20))));
  ASSERT_TRUE(inside_.lost.wait(after(std::chrono::seconds(20))));
  calling.runtime().stop(calling.id("caller"), "enough");
  inside_.stopped.set();
  ASSERT_TRUE(calling.runtime().join(calling.id("caller"), after(std::chrono::seconds(20))));
  ASSERT_TRUE(inside_.error.has_value());
  EXPECT_EQ(inside_.error->kind(), ErrorKind::stopped);
  EXPECT_TRUE(inside_.error->may_have_run());
}

// The call stays, and runs when its service is up.
TEST_P(MayHaveRun, WhenAHandlersTimeEndsBeforeThatOfTheCallForWhichItWaits) {
  const auto client = start().client(service_);
  do {
    client.call<&LoggingService::begin_absent>();
    EXPECT_THROW(client.within(std::chrono::milliseconds(50)).call<&LoggingService::await_absent>(), Error);
  } while (!inside_.event.wait(after(std::chrono::seconds(1))));  // the handler began in time
  ASSERT_TRUE(inside_.error.has_value());
  EXPECT_EQ(inside_.error->kind(), ErrorKind::deadline) << inside_.error->what();
  EXPECT_TRUE(inside_.error->may_have_run()) << inside_.error->what();
}

TEST_P(MayHaveRun, WhenTheNodeThatReadsAStreamIsStopped) {
  start(CallKind::stream);
  stop_caller();
}

// The call was held when its caller learned that it had not run. So it must not run when the service is up again.
TEST_P(MayHaveRun, NotAfterTheCallersNodeIsStopped) {
  const auto client = start(CallKind::held).client(service_);
  LocalRun& serving = run_->serving();
  serving.runtime().stop(serving.id("service"), "it is restarted");
  ASSERT_TRUE(serving.runtime().join(serving.id("service"), after(std::chrono::seconds(20))));
  EXPECT_THROW(client.within(std::chrono::milliseconds(30)).call<&LoggingService::begun>(), Error)
      << "from now on calls are held";
  stop_caller(/*may_have_run=*/false);
  run_->restart();
  EXPECT_EQ(client.call<&LoggingService::begun>(), 0);
}

TEST_P(MayHaveRun, WhenTheRunEnds) {
  const auto client = start().client(service_);
  auto call = client.async<&LoggingService::never>();
  inside_.event.wait();
  run_->calling().runtime().end_run();
  run_->calling().runtime().close();
  LocalRun& serving = run_->serving();
  serving.runtime().stop(serving.id("service"), "the run ends");
  EXPECT_TRUE(serving.runtime().join(serving.id("service"), after(std::chrono::seconds(20))));
  expect_ran(ErrorKind::stopped, [&] { call.get(); });
}

TEST_P(MayHaveRun, WhenTheRunEndsBeforeTheNextAttempt) {
  const auto client = start().client(service_);
  auto call = client.async<&LoggingService::again>();
  inside_.event.wait();
  run_->calling().runtime().close();
  LocalRun& serving = run_->serving();
  serving.runtime().stop(serving.id("service"), "the run ends");
  EXPECT_TRUE(serving.runtime().join(serving.id("service"), after(std::chrono::seconds(20))));
  expect_ran(ErrorKind::stopped, [&] { call.get(); });
}

TEST_P(MayHaveRun, WhenACallIsCancelled) {
  auto call = start().client(service_).async<&LoggingService::never>();
  inside_.event.wait();
  call.cancel();
  expect_ran(ErrorKind::stopped, [&] { call.get(); });
}

TEST_P(MayHaveRun, WhenTheHandlerPassesOnTheErrorOfACallThatDidNotRun) {
  const auto client = start().client(service_);
  expect_ran(ErrorKind::deadline, [&] { client.call<&LoggingService::call_absent>(); });
}

}  // namespace
}  // namespace lp
