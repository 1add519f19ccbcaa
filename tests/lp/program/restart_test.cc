// Calls whose service is restarted inside this process.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lp/checkpoint/cut.h"
#include "lp/lp.h"
#include "tests/directory.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

// The handler of the first incarnation is inside, and stays there.
struct InsideService {
  Event event;
};

class RestartedService {
 public:
  RestartedService(Context& context, InsideService* inside) : context_(context), inside_(*inside) {}
  int again(int x) { return answer(x); }
  int plain(int x) { return answer(x); }
  int read(int x) const { return answer(x); }
  Future<int> read_later(int x) const { return later(x); }
  Stream<int> read_many(int x) const {
    co_yield x;
    co_yield answer(x + 1);
  }
  int refuse() { throw std::invalid_argument("no room"); }
  void cut(std::uint64_t step) { context_.checkpoint(step); }
  void save(Checkpoint& out) const { out.put("nothing", 0); }
  void load(const Checkpoint&) {}
  using Remote = Methods<idempotent<&RestartedService::again>, &RestartedService::plain, &RestartedService::read,
                         &RestartedService::read_later, &RestartedService::read_many, once<&RestartedService::refuse>,
                         &RestartedService::cut>;

 private:
  Future<int> later(int x) const {
    Promise<int> value;
    value.set_value(answer(x));
    return value.future();
  }
  int answer(int x) const {
    if (context_.incarnation() > 1) return x;
    Promise<void> never;
    inside_.event.set();
    never.future().get();
    return 0;
  }
  Context& context_;
  InsideService& inside_;
};

class Restart : public ::testing::TestWithParam<bool> {
 protected:
  Restart() {
    run_.emplace(program_, Runtime::Options{.run = {.directory = directory_.path(), .serialize = GetParam()}});
  }
  // Makes a call, and restarts the service in the middle of it.
  template <class F>
  void in_the_middle_of(F call) {
    const Thread caller = spawn("caller", call);
    inside_.event.wait();
    run_->restart({"service"});
  }

  const test::Directory directory_;
  InsideService inside_;
  Program program_{"restart"};
  const Handle<RestartedService> service_ = program_.add<RestartedService>({.name = "service"}, context, &inside_);
  std::optional<LocalRun> run_;
};
INSTANTIATE_TEST_SUITE_P(Paths, Restart, ::testing::Values(false, true),
                         [](const auto& path) { return path.param ? "Bytes" : "Direct"; });

TEST_P(Restart, AnIdempotentCallIsMadeAgain) {
  in_the_middle_of([this] { EXPECT_EQ(run_->client(service_).call<&RestartedService::again>(7), 7); });
}

TEST_P(Restart, AConstMethodIsIdempotent) {
  in_the_middle_of([this] { EXPECT_EQ(run_->client(service_).call<&RestartedService::read>(7), 7); });
}

TEST_P(Restart, AConstMethodThatReturnsAFutureIsIdempotent) {
  in_the_middle_of([this] { EXPECT_EQ(run_->client(service_).call<&RestartedService::read_later>(7), 7); });
}

TEST_P(Restart, AConstStreamIsNotBegunAgain) {
  in_the_middle_of([this] {
    std::vector<int> read;
    try {
      for (const int one : run_->client(service_).stream<&RestartedService::read_many>(7)) read.push_back(one);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::disconnected) << error.what();
    }
    EXPECT_EQ(read, std::vector{7});
  });
}

// A call counts for the incarnation of its caller that made it.
struct Attempts {
  Event first;
  std::atomic<int> by_the_dead = 0;
  std::atomic<int> by_the_living = 0;
};
class Noting {
 public:
  Noting(Context& context, Attempts* attempts) : context_(context), attempts_(*attempts) {}
  void note(std::uint32_t caller) {
    if (context_.incarnation() > 1) {
      ++(caller > 1 ? attempts_.by_the_living : attempts_.by_the_dead);
      return;
    }
    Promise<void> never;
    attempts_.first.set();
    never.future().get();
  }
  using Remote = Methods<idempotent<&Noting::note>>;

 private:
  Context& context_;
  Attempts& attempts_;
};
class RestartCaller {
 public:
  explicit RestartCaller(Client<Noting> service) : service_(std::move(service)) {}
  void run(Context& context) { service_.call<&Noting::note>(context.incarnation()); }

 private:
  const Client<Noting> service_;
};

TEST(RestartTogether, ACallOfACallerThatHasEndedIsNotMadeAgain) {
  for (const bool serialize : {false, true}) {
    Attempts attempts;
    Program program("restart");
    const auto service = program.add<Noting>({.name = "service"}, context, &attempts);
    program.add<RestartCaller>({.name = "caller"}, service);
    LocalRun run(program, {.run = {.serialize = serialize}});
    attempts.first.wait();
    run.restart({"service", "caller"});
    run.wait_finished();
    EXPECT_EQ(attempts.by_the_dead, 0) << serialize;
    EXPECT_EQ(attempts.by_the_living, 1) << serialize;
  }
}

TEST_P(Restart, APlainCallIsNotAndSaysThatItMayHaveRun) {
  in_the_middle_of([this] {
    try {
      run_->client(service_).call<&RestartedService::plain>(7);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::disconnected) << error.what();
      EXPECT_TRUE(error.may_have_run());
      EXPECT_EQ(error.node(), "service");
    }
  });
}

TEST_P(Restart, AClientSeesWhetherItsServiceIsUp) {
  const Client<RestartedService> client = run_->client(service_);
  EXPECT_TRUE(client.up());
  run_->runtime().stop(run_->id("service"), "the test");
  EXPECT_TRUE(run_->runtime().join(run_->id("service"), after(std::chrono::seconds(20))));
  EXPECT_FALSE(client.up());
  run_->start_one("service", 2, 1);
  EXPECT_TRUE(client.up());
}

TEST_P(Restart, AnErrorThatIsRememberedInACutIsTheSameAfterIt) {
  const auto client = run_->client(service_);
  const auto error_of_call = [&] {
    try {
      client.numbered(1).call<&RestartedService::refuse>();
    } catch (const Error& error) {
      return error;
    }
    return Error(ErrorKind::failed, "no error");
  };
  const Error before = error_of_call();
  EXPECT_EQ(std::string(before.what()), "service.refuse: std::invalid_argument: no room");
  client.call<&RestartedService::cut>(1);
  run_->wait_saved(1, 1);
  run_->restart({"service"}, cut_directory(directory_.path(), 1));
  const Error after = error_of_call();
  EXPECT_STREQ(after.what(), before.what());
  EXPECT_EQ(after.node(), "service");
  EXPECT_EQ(after.origin().type, "std::invalid_argument");
}

TEST_P(Restart, ACutThatIsThereStaysAsItWasSaved) {
  const auto client = run_->client(service_);
  client.call<&RestartedService::cut>(5);
  run_->wait_saved(5, 1);
  const auto file = cut_file(cut_directory(directory_.path(), 5), "service");
  const auto before = Checkpoint::inspect(file).checksum;
  EXPECT_THROW(client.call<&RestartedService::refuse>(), Error);  // the next cut would remember it
  client.call<&RestartedService::cut>(5);
  client.call<&RestartedService::cut>(6);
  run_->wait_saved(6, 1);
  EXPECT_EQ(Checkpoint::inspect(file).checksum, before);
  try {
    client.call<&RestartedService::cut>(4);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(), "checkpoint(4) after checkpoint(6): the steps of a node's checkpoints must grow");
  }
  run_->restart({"service"}, cut_directory(directory_.path(), 5));
  client.call<&RestartedService::cut>(5);  // it was restored from this cut
  client.call<&RestartedService::cut>(7);
  run_->wait_saved(7, 1);
  EXPECT_EQ(Checkpoint::inspect(file).checksum, before);
}

TEST_P(Restart, ASaveWaitsUntilTheOneBeforeIsDealtWith) {
  run_->hold_saves();
  const auto client = run_->client(service_);
  client.call<&RestartedService::cut>(1);
  run_->wait_saved(1, 1);
  const Thread second = spawn("second", [&client] { client.call<&RestartedService::cut>(2); });
  // Until the second save has the service's turn, a call comes through and gets its own error.
  ErrorKind kind = ErrorKind::failed;
  while (kind == ErrorKind::failed) {
    try {
      client.within(std::chrono::milliseconds(50)).call<&RestartedService::refuse>();
    } catch (const Error& error) {
      kind = error.kind();
    }
  }
  EXPECT_EQ(kind, ErrorKind::deadline);
  run_->runtime().may_save(run_->id("service"));
  run_->wait_saved(2, 1);
}

}  // namespace
}  // namespace lp
