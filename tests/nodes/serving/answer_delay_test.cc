// Callers that are behind with the answers to their own requests.
#include "nodes/serving/answer_delay.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/lp.h"
#include "nodes/serving/balancer.h"
#include "nodes/serving/served_model.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

using std::chrono::milliseconds;

// The error of check(); nothing when it lets the request pass.
std::string refusal(const AnswerDelay& delay, std::size_t under_way, Duration left) {
  try {
    delay.check(under_way, left);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::overloaded);
    return error.text();
  }
  return "";
}

TEST(AnswerDelay, RefusesNothingBeforeItsFirstAnswer) { EXPECT_EQ(refusal(AnswerDelay(), 1000, milliseconds(1)), ""); }

// 10 requests take 20 ms, nearly all of it outside of the server, and their use waits as long again: 4 ms each.
TEST(AnswerDelay, RefusesARequestWhoseAnswerWouldBeUsedTooLate) {
  AnswerDelay delay;
  for (int i = 0; i < 100; ++i) delay.answered(10, milliseconds(20), Duration::zero());
  EXPECT_EQ(refusal(delay, 7, milliseconds(41)), "");
  EXPECT_EQ(refusal(delay, 8, milliseconds(41)),
            "the caller is behind with its 7 requests that are under way: an answer takes about 32 ms, and the call "
            "has 41 ms left: send less, or allow more time");
  EXPECT_EQ(refusal(delay, 1, milliseconds(41)), "");  // nothing else is under way
}

// They may wait for a version, or in the queue of the server, which refuses them itself.
TEST(AnswerDelay, RefusesNothingForTheTimeThatTheServersTake) {
  AnswerDelay delay;
  for (int i = 0; i < 100; ++i) delay.answered(10, milliseconds(20), milliseconds(19));
  EXPECT_EQ(refusal(delay, 1000, milliseconds(20)), "");
}

TEST(AnswerDelay, TakesRequestsAgainWhenAnswersAreQuickAgain) {
  AnswerDelay delay;
  for (int i = 0; i < 100; ++i) delay.answered(100, milliseconds(200), Duration::zero());
  EXPECT_NE(refusal(delay, 100, milliseconds(20)), "");
  for (int i = 0; i < 60; ++i) delay.answered(1, milliseconds(1), milliseconds(1));
  EXPECT_EQ(refusal(delay, 100, milliseconds(20)), "");
}

// Holds its answers until the test releases them, with the time for which the server had the requests.
class Holding {
 public:
  Future<Answer<int>> ask() { return held_.emplace_back().future(); }
  void release(std::size_t count, Duration took) {
    for (; count > 0; --count) {
      held_.front().set_value({.version = 1, .value = 1, .took = took});
      held_.erase(held_.begin());
    }
  }
  std::size_t holds() const { return held_.size(); }
  using Remote = Methods<&Holding::ask, &Holding::release, &Holding::holds>;

 private:
  std::vector<Promise<Answer<int>>> held_{};
};

class BehindTest : public testing::Test {
 protected:
  BehindTest() {
    const GroupHandle<Holding> group = program_.group<Holding>({.name = "holding", .replicas = 1});
    run_.emplace(program_);
    clients_.emplace(run_->client(group));
    balancer_.emplace(*clients_);
  }
  // Lets 10 answers come when `after` has passed at least, of which the server had them for `took`. Another request
  // stays under way.
  void answer_ten(Duration after, Duration took) {
    const Time begin = now();
    std::vector<Future<Answer<int>>> answers;
    for (int i = 0; i < 11; ++i) answers.push_back(balancer_->async<&Holding::ask>());
    Promise<void> never;
    never.future().wait_for(until(begin + after));
    (*clients_)[0].call<&Holding::release>(std::size_t{10}, took);
    for (std::size_t i = 0; i < 10; ++i) answers[i].get();
    last_.emplace(std::move(answers.back()));
  }
  std::size_t holds() { return (*clients_)[0].call<&Holding::holds>(); }

  Program program_{"behind"};
  std::optional<LocalRun> run_{};
  std::optional<Clients<Holding>> clients_{};
  std::optional<Balancer<Holding>> balancer_{};
  std::optional<Future<Answer<int>>> last_{};
};

TEST_F(BehindTest, ABalancerRefusesARequestThatItsCallerWouldUseTooLateBeforeItIsSent) {
  answer_ten(milliseconds(50), Duration::zero());
  try {
    balancer_->within(milliseconds(10)).async<&Holding::ask>().get();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::overloaded) << error.text();
    EXPECT_NE(error.text().find("the caller is behind with its 1 requests"), std::string::npos) << error.text();
  }
  EXPECT_EQ(holds(), 1U);
  const Future<Answer<int>> without_limit = balancer_->async<&Holding::ask>();
  while (holds() < 2) {
  }
}

TEST_F(BehindTest, ABalancerSendsARequestWhoseTimeTheServersTake) {
  answer_ten(milliseconds(50), std::chrono::hours(1));
  const Future<Answer<int>> sent = balancer_->within(std::chrono::seconds(100)).async<&Holding::ask>();
  while (holds() < 2) {
  }
}

}  // namespace
}  // namespace lp
