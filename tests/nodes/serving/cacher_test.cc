// Caches: fresh, old and stale answers at times that the test makes up; one call for many callers; errors that do not
// stay.
#include "nodes/serving/cacher.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Time moment(int s) { return Time(seconds(1'000'000 + s)); }

TEST(Cache, GivesFreshAnswersAsksAgainForOldOnesAndDoesNotGiveStaleOnes) {
  Cache<int> cache({.refresh = seconds(1), .stale = seconds(10)});
  auto first = cache.find("a", moment(0));
  EXPECT_TRUE(first.call);
  EXPECT_FALSE(first.answer.ready());
  cache.answered("a", 7, moment(0));
  EXPECT_EQ(first.answer.get(), 7);

  auto fresh = cache.find("a", moment(1));
  EXPECT_FALSE(fresh.call);
  EXPECT_EQ(fresh.answer.get(), 7);

  auto old = cache.find("a", moment(5));
  EXPECT_TRUE(old.call);
  EXPECT_EQ(old.answer.get(), 7);
  auto meanwhile = cache.find("a", moment(6));
  EXPECT_FALSE(meanwhile.call);
  EXPECT_EQ(meanwhile.answer.get(), 7);

  auto stale = cache.find("a", moment(11));
  EXPECT_FALSE(stale.call);  // the call is on its way
  EXPECT_FALSE(stale.answer.ready());
  cache.answered("a", 8, moment(5));
  EXPECT_EQ(stale.answer.get(), 8);
  EXPECT_FALSE(cache.find("a", moment(6)).call);
  EXPECT_TRUE(cache.find("a", moment(7)).call);  // its age counts from the call
}

TEST(Cache, AnErrorGoesToThoseWhoWaitAndDoesNotStay) {
  Cache<int> cache({.refresh = seconds(1), .stale = seconds(10)});
  auto one = cache.find("a", moment(0));
  auto other = cache.find("a", moment(0));
  EXPECT_FALSE(other.call);
  cache.failed("a", Error(ErrorKind::failed, "no"));
  EXPECT_THROW(one.answer.get(), Error);
  EXPECT_THROW(other.answer.get(), Error);
  auto next = cache.find("a", moment(0));
  EXPECT_TRUE(next.call);
  cache.answered("a", 7, moment(0));
  EXPECT_EQ(next.answer.get(), 7);
  EXPECT_TRUE(cache.find("a", moment(5)).call);
  cache.failed("a", Error(ErrorKind::disconnected, "away"));
  auto old = cache.find("a", moment(6));
  EXPECT_TRUE(old.call);  // again
  EXPECT_EQ(old.answer.get(), 7);
  EXPECT_EQ(cache.statistics().errors, 2U);
}

TEST(Cache, TheAnswerThatWasWantedLeastRecentlyMakesRoom) {
  Cache<int> cache({.refresh = seconds(10), .stale = seconds(10), .room = 2});
  for (const char* key : {"a", "b"}) {
    EXPECT_TRUE(cache.find(key, moment(0)).call);
    cache.answered(key, 1, moment(0));
  }
  EXPECT_FALSE(cache.find("a", moment(0)).call);
  EXPECT_TRUE(cache.find("c", moment(0)).call);
  cache.answered("c", 1, moment(0));
  EXPECT_EQ(cache.statistics().answers, 2U);
  EXPECT_FALSE(cache.find("a", moment(0)).call);
  EXPECT_TRUE(cache.find("b", moment(0)).call);
}

TEST(Cache, CallsThatAreUnderWayTakeNoRoomFromAnswers) {
  Cache<int> cache({.refresh = seconds(1), .stale = seconds(10), .room = 2});
  for (const char* key : {"a", "b", "c", "d"}) EXPECT_TRUE(cache.find(key, moment(0)).call);
  cache.answered("a", 1, moment(0));
  cache.answered("b", 2, moment(0));
  EXPECT_EQ(cache.find("a", moment(0)).answer.get(), 1);
  EXPECT_EQ(cache.find("b", moment(0)).answer.get(), 2);
  EXPECT_TRUE(cache.find("a", moment(5)).call);  // again
  auto also = cache.find("a", moment(11));
  cache.answered("c", 3, moment(5));
  cache.answered("d", 4, moment(5));  // the answers "a" and "b" have made room
  EXPECT_EQ(cache.statistics().answers, 2U);
  EXPECT_FALSE(also.answer.ready());
  cache.answered("a", 5, moment(5));
  EXPECT_EQ(also.answer.get(), 5);
  EXPECT_EQ(cache.find("d", moment(5)).answer.get(), 4);
  EXPECT_EQ(cache.statistics().answers, 2U);
}

TEST(Cache, ACallBeyondTheMostIsRefusedAndAnOldAnswerGiven) {
  Cache<int> cache({.refresh = seconds(1), .stale = seconds(10), .most_calls = 1});
  EXPECT_TRUE(cache.find("a", moment(0)).call);
  cache.answered("a", 1, moment(0));
  auto waiting = cache.find("b", moment(0));
  EXPECT_TRUE(waiting.call);
  auto also = cache.find("b", moment(0));
  const auto refuses = [&](const char* key, Time when) {
    try {
      cache.find(key, when);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::overloaded;
    }
    return false;
  };
  EXPECT_TRUE(refuses("c", moment(0)));
  EXPECT_TRUE(refuses("a", moment(11)));  // stale
  auto old = cache.find("a", moment(5));
  EXPECT_FALSE(old.call);
  EXPECT_EQ(old.answer.get(), 1);
  cache.failed("b", Error(ErrorKind::failed, "no"));
  EXPECT_THROW(waiting.answer.get(), Error);
  EXPECT_THROW(also.answer.get(), Error);
  EXPECT_TRUE(cache.find("c", moment(0)).call);
}

TEST(Cache, AnOptionThatDoesNotFitIsRefused) {
  EXPECT_THROW(Cache<int>({.most_calls = 0}), Error);
  EXPECT_THROW(Cache<int>({.room = 0}), Error);
  EXPECT_THROW(Cache<int>({.refresh = seconds(2), .stale = seconds(1)}), Error);
}

class Service {
 public:
  Future<std::string> describe(int number, std::string unit) {
    ++calls_;
    if (number < 0) throw std::invalid_argument("no negative ones");
    waiting_.emplace_back();
    texts_.push_back(std::to_string(number) + unit);
    Future<std::string> text = waiting_.back().future();
    if (!holds_) answer();
    return text;
  }
  void hold(bool holds) { holds_ = holds; }
  void answer() {
    for (std::size_t i = 0; i < waiting_.size(); ++i) waiting_[i].set_value(texts_[i]);
    waiting_.clear();
    texts_.clear();
  }
  int calls() const { return calls_; }
  std::vector<float> large(std::vector<float> values) const { return {values.back()}; }

  using Remote = Methods<&Service::describe, &Service::hold, &Service::answer, &Service::calls, &Service::large>;

 private:
  int calls_ = 0;
  bool holds_ = false;
  std::vector<Promise<std::string>> waiting_{};
  std::vector<std::string> texts_{};
};

using Describe = Cacher<&Service::describe>;

class CacherTest : public testing::Test {
 protected:
  void run(const CacheOptions& options) {
    service_ = program_.add<Service>({.name = "service"});
    cacher_ = program_.add<Describe>({.name = "cacher"}, *service_, options);
    run_.emplace(program_);
  }
  Client<Service> service() { return run_->client(*service_); }
  Client<Describe> cacher() { return run_->client(*cacher_); }
  int calls() { return service().call<&Service::calls>(); }

  Program program_{"cached"};
  std::optional<Handle<Service>> service_{};
  std::optional<Handle<Describe>> cacher_{};
  std::optional<LocalRun> run_{};
};

constexpr CacheOptions kForAnHour{.refresh = std::chrono::hours(1), .stale = std::chrono::hours(1)};

TEST_F(CacherTest, AnswersEachArgumentsWithOneCall) {
  run(kForAnHour);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(cacher().call<&Describe::get>(5, "m"), "5m");
    EXPECT_EQ(cacher().call<&Describe::get>(5, "s"), "5s");
  }
  EXPECT_EQ(calls(), 2);
  EXPECT_EQ(cacher().call<&Describe::statistics>().hits, 4U);
}

TEST_F(CacherTest, ManyCallersAtOnceMakeOneCall) {
  run(kForAnHour);
  service().call<&Service::hold>(true);
  std::vector<Future<std::string>> answers;
  for (int i = 0; i < 100; ++i) answers.push_back(cacher().async<&Describe::get>(5, "m"));
  while (calls() == 0) {
  }
  service().call<&Service::answer>();
  for (Future<std::string>& one : answers) EXPECT_EQ(one.get(), "5m");
  EXPECT_EQ(calls(), 1);
}

TEST_F(CacherTest, ACallerWithLittleTimeDoesNotEndTheCallForTheOthers) {
  run(kForAnHour);
  service().call<&Service::hold>(true);
  EXPECT_THROW(cacher().within(milliseconds(5)).call<&Describe::get>(5, "m"), Error);
  Future<std::string> patient = cacher().async<&Describe::get>(5, "m");
  while (calls() == 0) {
  }
  service().call<&Service::answer>();
  EXPECT_EQ(patient.get(), "5m");
  EXPECT_EQ(calls(), 1);
}

TEST_F(CacherTest, AnErrorOfTheMethodReachesItsCallersAndIsNotKept) {
  run(kForAnHour);
  for (int i = 1; i <= 2; ++i) {
    try {
      cacher().call<&Describe::get>(-1, "m");
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.origin().type, "std::invalid_argument");
    }
    EXPECT_EQ(calls(), i);
  }
}

TEST_F(CacherTest, WithoutAllowanceEveryAnswerIsNew) {
  run({.refresh = {}, .stale = {}});
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(cacher().call<&Describe::get>(5, "m"), "5m");
    EXPECT_EQ(calls(), i);
  }
}

TEST_F(CacherTest, AnOldAnswerIsGivenWhileItsServiceIsAway) {
  run({.refresh = {}, .stale = std::chrono::hours(1)});
  EXPECT_EQ(cacher().call<&Describe::get>(5, "m"), "5m");
  run_->runtime().stop(run_->id("service"), "the test");
  EXPECT_TRUE(run_->runtime().join(run_->id("service"), after(seconds(20))));
  EXPECT_EQ(cacher().call<&Describe::get>(5, "m"), "5m");
}

TEST(Cacher, KnowsLargeArgumentsByTheirBytes) {
  using Large = Cacher<&Service::large>;
  Program program("large");
  const auto service = program.add<Service>({.name = "service"});
  const auto cacher = program.add<Large>({.name = "cacher"}, service, kForAnHour);
  LocalRun run(program);
  std::vector<float> values(100'000);
  for (int i = 0; i < 3; ++i) {
    values.back() = static_cast<float>(i % 2);
    EXPECT_EQ(run.client(cacher).call<&Large::get>(values), (std::vector<float>{values.back()}));
  }
  EXPECT_EQ(run.client(cacher).call<&Large::statistics>().calls, 2U);
}

}  // namespace
}  // namespace lp
