// Loads: how requests are counted, how many are under way, and their rate.
#include "nodes/serving/load_generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace lp {
namespace {

using std::chrono::milliseconds;

TEST(LoadGenerator, CountsHowEachRequestEnds) {
  const auto send = [](std::uint64_t number) -> Future<int> {
    if (number % 4 == 1) throw Error(ErrorKind::overloaded, "no room here");
    Promise<int> promise;
    Future<int> answer = promise.future();
    if (number % 4 == 0) promise.set_value(static_cast<int>(number));
    if (number % 4 == 2) promise.set_error(Error(ErrorKind::deadline, "late"));
    if (number % 4 == 3) promise.set_error(Error(ErrorKind::failed, "wrong"));
    return answer;
  };
  std::uint64_t accepted = 0;
  const LoadReport report = drive_load({.length = milliseconds(50)}, send, [&](std::uint64_t number, int answer) {
    EXPECT_EQ(number, static_cast<std::uint64_t>(answer));
    ++accepted;
  });
  EXPECT_GT(accepted, 0U);
  EXPECT_EQ(report.answered, accepted);
  EXPECT_EQ(report.milliseconds.size(), accepted);
  for (const std::uint64_t count : {report.refused, report.late, report.failed}) {
    EXPECT_LE(count, accepted);
    EXPECT_GE(count + 1, accepted);
  }
  EXPECT_NEAR(report.share(report.answered), 0.25, 0.25);
}

// Answers all that it has whenever it is woken, or now and then.
class Slow {
 public:
  Slow() {
    thread_ = spawn("slow", [this] {
      while (!ended_) {
        wake_.wait(after(milliseconds(2)));
        answer();
      }
    });
  }
  ~Slow() {
    ended_ = true;
    wake_.set();
  }

  Future<int> ask() {
    const std::lock_guard lock(mutex_);
    Future<int> answer = asked_.emplace_back().future();
    most_ = std::max(most_, asked_.size());
    return answer;
  }
  std::size_t most() const { return most_; }

 private:
  void answer() {
    std::vector<Promise<int>> all;
    {
      const std::lock_guard lock(mutex_);
      all.swap(asked_);
    }
    for (Promise<int>& one : all) one.set_value(1);
  }

  std::atomic<bool> ended_ = false;
  Event wake_{};
  std::mutex mutex_{};
  std::vector<Promise<int>> asked_{};
  std::size_t most_ = 0;
  Thread thread_{};
};

TEST(LoadGenerator, HasAsManyRequestsUnderWayAsAllowedAndNoMore) {
  Slow service;
  const LoadReport report = drive_load(
      {.length = milliseconds(100), .under_way = 3}, [&](std::uint64_t) { return service.ask(); },
      [](std::uint64_t, int) {});
  EXPECT_EQ(service.most(), 3U);
  EXPECT_GE(report.answered, 3U);
}

TEST(LoadGenerator, AcceptsNothingMoreWhenItsNodeIsStopped) {
  std::vector<Promise<int>> asked(2);
  const auto send = [&](std::uint64_t number) {
    if (number == asked.size()) throw Error(ErrorKind::stopped, "the node is stopping");
    return asked[number].future();
  };
  std::atomic<int> accepted = 0;
  EXPECT_THROW(drive_load({.length = std::chrono::hours(1)}, send, [&](std::uint64_t, int) { ++accepted; }), Error);
  for (Promise<int>& one : asked) one.set_value(1);
  EXPECT_EQ(accepted, 0);
}

TEST(LoadGenerator, SendsAtItsRate) {
  const auto send = [](std::uint64_t) { return ready(1); };
  const LoadReport report = drive_load({.length = milliseconds(400), .rate = 5000}, send, [](std::uint64_t, int) {});
  EXPECT_GT(report.answered, 400U);  // 2000 on a machine that has time
  EXPECT_LT(report.answered, 2800U);
}

TEST(LoadGenerator, QuantilesAndSums) {
  LoadReport one{.seconds = 2, .answered = 3, .refused = 1, .milliseconds = {1, 3, 2}};
  EXPECT_EQ(one.quantile(0), 1);
  EXPECT_EQ(one.quantile(0.5), 2);
  EXPECT_EQ(one.quantile(1), 3);
  EXPECT_EQ(LoadReport().quantile(0.5), 0);
  one.add({.seconds = 4, .answered = 1, .late = 2, .failed = 3, .milliseconds = {9}});
  EXPECT_EQ(one.rate(), 1);
  EXPECT_EQ(one.asked(), 10U);
  EXPECT_EQ(one.share(one.late), 0.2);
  EXPECT_EQ(one.quantile(1), 9);
}

}  // namespace
}  // namespace lp
