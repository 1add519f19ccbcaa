// Inference servers: batches, versions, requests that are refused, and models that fail.
#include "nodes/serving/inference_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "lp/lp.h"
#include "nodes/serving/published_server.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Publishes numbers that models add to their requests.
class Source {
 public:
  std::uint64_t publish(double number) { return numbers.publish(number); }
  Published<double> numbers;
  using Remote = Methods<&Source::publish, &Source::numbers>;
};

using Base = InferenceServer<double, double>;
using Server = PublishedServer<&Source::numbers, double, double>;
using Model = Base::Model;

// A model holds its batches here until the test lets them go.
struct Gate {
  std::atomic<bool> shut = false;
  Event begun{};
  Event open{};

  void pass() {
    if (!shut) return;
    begun.set();
    open.wait();
  }
};

constexpr double kThrows = -1000;
constexpr double kNoAnswer = -2000;

Model adding(const Version<double>& version, Gate& gate) {
  if (*version == kThrows) throw std::invalid_argument("no such weights");
  if (*version == kNoAnswer) return {.version = version.number()};
  const auto answer = [number = *version, &gate](const std::vector<double>& requests) {
    gate.pass();
    std::vector<double> replies;
    for (const double one : requests) {
      if (one == 1000) return std::vector<double>();
      if (one == 2000) throw std::runtime_error("it has no room");
      replies.push_back(one == 3000 ? std::nan("") : one + number);
    }
    return replies;
  };
  const auto check = [](const double& request) {
    if (request < 0) throw std::invalid_argument("a negative request");
  };
  return {.version = version.number(), .answer = answer, .check = check};
}

class Serving {
 public:
  explicit Serving(ServingOptions options = {}, Duration period = std::chrono::hours(1), Duration deadline = {}) {
    Gate& gate = gate_;
    const auto make = [&gate](const Version<double>& version) { return adding(version, gate); };
    const auto source = program_.add<Source>({.name = "source"});
    const auto server = program_.add<Server>({.name = "server"}, source, make, options, period);
    Runtime::Options runtime;
    if (deadline > Duration::zero()) runtime.run.deadline = deadline;
    run_.emplace(program_, runtime);
    source_.emplace(run_->client(source));
    server_.emplace(run_->client(server));
  }
  ~Serving() {
    gate_.shut = false;
    gate_.open.set();
  }

  void publish(double number) { source_->call<&Source::publish>(number); }
  Future<Answer<double>> ask(double request, std::uint64_t least_version = 0) {
    return server_->async<&Base::ask>(request, least_version);
  }
  Client<Server>& server() { return *server_; }
  ServingStatistics statistics() { return server_->call<&Base::statistics>(); }
  // Returns once the server has taken over this many versions.
  void wait_for_versions(std::uint64_t count) {
    while (statistics().versions < count) {
    }
  }
  LocalRun& run() { return *run_; }
  Gate& gate() { return gate_; }
  // Lets a batch begin, and holds it.
  Future<Answer<double>> hold_a_batch() {
    gate_.shut = true;
    Future<Answer<double>> held = ask(0);
    gate_.begun.wait();
    return held;
  }
  void let_go() {
    gate_.shut = false;
    gate_.open.set();
  }

 private:
  Gate gate_{};
  Program program_{"serving"};
  std::optional<LocalRun> run_{};
  std::optional<Client<Source>> source_{};
  std::optional<Client<Server>> server_{};
};

Error error_of(Future<Answer<double>> answer) {
  try {
    answer.get();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "it was answered";
  return Error(ErrorKind::failed, "");
}

TEST(InferenceServer, ComputesTheRequestsThatCameMeanwhileInOneBatch) {
  Serving serving({.batch = {.most = 4, .wait = {}}});
  serving.publish(0.5);
  Future<Answer<double>> first = serving.hold_a_batch();
  std::vector<Future<Answer<double>>> others;
  for (int i = 1; i <= 6; ++i) others.push_back(serving.ask(i));
  serving.let_go();
  EXPECT_EQ(first.get().value, 0.5);
  for (int i = 1; i <= 6; ++i) EXPECT_EQ(others[static_cast<std::size_t>(i) - 1].get().value, i + 0.5);
  EXPECT_EQ(serving.statistics().batch_sizes, (std::vector<std::uint64_t>{0, 1, 1, 0, 1}));
  EXPECT_EQ(serving.statistics().answered, 7U);
}

TEST(InferenceServer, AFullBatchDoesNotWait) {
  Serving serving({.batch = {.most = 2, .wait = std::chrono::hours(1)}});
  serving.publish(1);
  Future<Answer<double>> first = serving.ask(1);
  EXPECT_FALSE(first.ready());
  EXPECT_EQ(serving.ask(2).get().value, 3);
  EXPECT_EQ(first.get().value, 2);
}

TEST(InferenceServer, RequestsThatComeBeforeTheFirstVersionWaitForIt) {
  Serving serving({}, milliseconds(1));
  Future<Answer<double>> early = serving.ask(1);
  serving.publish(2);
  const Answer<double> answer = early.get();
  EXPECT_EQ(answer.version, 1U);
  EXPECT_EQ(answer.value, 3);
}

TEST(InferenceServer, ADemandForANewerVersionFetchesItAtOnce) {
  Serving serving;  // which looks for versions once an hour
  serving.publish(1);
  EXPECT_EQ(serving.ask(1).get().version, 1U);
  serving.publish(2);
  EXPECT_EQ(serving.ask(1).get().version, 1U);
  const Answer<double> demanded = serving.ask(1, 2).get();
  EXPECT_EQ(demanded.version, 2U);
  EXPECT_EQ(demanded.value, 3);
}

TEST(InferenceServer, AVersionThatDoesNotComeIsReportedWithTheOneThatIsThere) {
  Serving serving({.patience = milliseconds(1)}, milliseconds(1));
  serving.publish(1);
  serving.wait_for_versions(1);
  EXPECT_EQ(serving.ask(1, 1).get().version, 1U);
  const Error error = error_of(serving.ask(1, 5));
  EXPECT_EQ(error.kind(), ErrorKind::overloaded);
  EXPECT_NE(error.text().find("version 5 or a newer one"), std::string::npos) << error.text();
  EXPECT_NE(error.text().find("the server has 1"), std::string::npos) << error.text();
}

TEST(InferenceServer, ARunningBatchKeepsTheVersionWithWhichItBegan) {
  Serving serving({.batch = {.wait = {}}});
  serving.publish(1);
  Future<Answer<double>> before = serving.hold_a_batch();
  serving.publish(2);
  Future<Answer<double>> demanded = serving.ask(0, 2);
  serving.wait_for_versions(2);
  serving.let_go();
  EXPECT_EQ(before.get().value, 1);
  EXPECT_EQ(demanded.get().value, 2);
}

TEST(InferenceServer, VersionsThatChangeUnderLoadLoseAndMixNothing) {
  constexpr int kVersions = 50;
  Serving serving({.batch = {.most = 8, .wait = {}}}, milliseconds(1));
  serving.publish(1);
  std::uint64_t asked = 0;
  std::uint64_t newest = 0;
  for (int version = 1; version <= kVersions; ++version) {
    if (version > 1) serving.publish(version);
    std::vector<Future<Answer<double>>> answers;
    for (int i = 0; i < 200; ++i)
      answers.push_back(serving.ask(i, i % 50 == 49 ? static_cast<std::uint64_t>(version) : 0));
    for (int i = 0; i < 200; ++i, ++asked) {
      const Answer<double> answer = answers[static_cast<std::size_t>(i)].get();
      EXPECT_EQ(answer.value, i + static_cast<double>(answer.version));
      newest = std::max(newest, answer.version);
    }
    EXPECT_EQ(newest, static_cast<std::uint64_t>(version));
  }
  const ServingStatistics statistics = serving.statistics();
  EXPECT_EQ(statistics.answered, asked);
  EXPECT_EQ(statistics.asked, asked);
  EXPECT_EQ(statistics.versions, static_cast<std::uint64_t>(kVersions));
}

TEST(InferenceServer, RefusesARequestAtOnceThatCannotBeAnsweredInItsTime) {
  Serving serving({.batch = {.most = 1, .wait = {}}});
  serving.publish(1);
  for (int i = 0; i < 3; ++i) {  // each takes 200 ms at least
    Future<Answer<double>> slow = serving.hold_a_batch();
    Event().wait(after(milliseconds(200)));
    serving.let_go();
    slow.get();
  }
  Future<Answer<double>> running = serving.hold_a_batch();
  Future<Answer<double>> next = serving.ask(1);
  const Error error = error_of(serving.server().within(milliseconds(100)).async<&Base::ask>(2.0, 0U));
  EXPECT_EQ(error.kind(), ErrorKind::overloaded) << error.what();
  serving.let_go();
  EXPECT_EQ(next.get().value, 2);
  EXPECT_EQ(serving.statistics().shed, 1U);
}

TEST(InferenceServer, ARequestThatDoesNotFitFailsAlone) {
  Serving serving({.batch = {.most = 3, .wait = {}}});
  serving.publish(1);
  Future<Answer<double>> running = serving.hold_a_batch();
  Future<Answer<double>> good = serving.ask(1);
  Future<Answer<double>> bad = serving.ask(-1);
  Future<Answer<double>> other = serving.ask(2);
  serving.let_go();
  EXPECT_EQ(good.get().value, 2);
  EXPECT_EQ(other.get().value, 3);
  EXPECT_NE(error_of(std::move(bad)).text().find("a negative request"), std::string::npos);
}

TEST(InferenceServer, AModelThatFailsFailsItsBatchAndTheServerGoesOn) {
  Serving serving({.batch = {.wait = {}}});
  serving.publish(1);
  const Error thrown = error_of(serving.ask(2000));
  EXPECT_EQ(thrown.kind(), ErrorKind::failed);
  EXPECT_EQ(thrown.origin().type, "std::runtime_error");
  EXPECT_NE(thrown.text().find("it has no room"), std::string::npos);
  EXPECT_NE(error_of(serving.ask(1000)).text().find("returned 0 replies for 1 requests"), std::string::npos);
  EXPECT_EQ(serving.ask(1).get().value, 2);
  EXPECT_EQ(serving.statistics().failed, 2U);
}

TEST(InferenceServer, AReplyThatIsNotFiniteFailsAlone) {
  Serving serving({.batch = {.wait = {}}});
  serving.publish(1);
  Future<Answer<double>> running = serving.hold_a_batch();
  Future<Answer<double>> bad = serving.ask(3000);
  Future<Answer<double>> good = serving.ask(1);
  serving.let_go();
  EXPECT_EQ(good.get().value, 2);
  EXPECT_NE(error_of(std::move(bad)).text().find("not finite"), std::string::npos);
}

TEST(InferenceServer, AVersionThatCannotBeMadeIsRefusedAndTheOneBeforeServesOn) {
  Serving serving({.patience = milliseconds(1)}, milliseconds(1));
  serving.publish(1);
  serving.wait_for_versions(1);
  EXPECT_EQ(serving.ask(1).get().version, 1U);
  serving.publish(kThrows);
  const Error error = error_of(serving.ask(1, 2));
  EXPECT_NE(error.text().find("version 2"), std::string::npos) << error.text();
  EXPECT_EQ(serving.ask(1).get().version, 1U);
  while (serving.statistics().refused_versions == 0) {
  }
  EXPECT_EQ(serving.statistics().problem, "no such weights");
  serving.publish(3);
  serving.wait_for_versions(2);
  EXPECT_EQ(serving.ask(1, 3).get().value, 4);
  EXPECT_EQ(serving.statistics().problem, "");  // the last attempt did not fail
}

TEST(InferenceServer, AModelWithoutAnAnswerIsRefused) {
  Serving serving({}, milliseconds(1));
  serving.publish(1);
  serving.wait_for_versions(1);
  // The server may have asked before the first version was there.
  const std::uint64_t before = serving.statistics().refused_versions;
  serving.publish(kNoAnswer);
  while (serving.statistics().refused_versions == before) {
  }
  EXPECT_EQ(serving.statistics().problem, "version 2 of the model has no `answer`");
  EXPECT_EQ(serving.ask(1).get().value, 2);
}

TEST(InferenceServer, ServesOnWhileThePublisherIsRestarted) {
  Serving serving({}, milliseconds(1));
  serving.publish(1);
  EXPECT_EQ(serving.ask(1).get().version, 1U);
  serving.run().restart({"source"});
  EXPECT_EQ(serving.ask(1).get().value, 2);
  serving.publish(5);  // the first version of the new incarnation
  serving.wait_for_versions(2);
  EXPECT_EQ(serving.ask(1).get().value, 6);
}

TEST(InferenceServer, ARestartedServerBeginsWithTheNewestVersion) {
  Serving serving;
  serving.publish(1);
  serving.publish(2);
  serving.run().restart({"server"});
  EXPECT_EQ(serving.ask(1).get().value, 3);
}

}  // namespace
}  // namespace lp
