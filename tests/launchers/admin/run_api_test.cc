// A run's admin socket: its answers, and the load that it withstands.

#include "launchers/admin/run_api.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "launchers/admin/admin_client.h"
#include "launchers/control/spans_record.h"
#include "launchers/control/waits_record.h"
#include "launchers/run.h"
#include "lp/base/json_value.h"
#include "tests/directory.h"
#include "tests/launchers/programs_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::launch {
namespace {

using test::Config;
using test::make_counting;

constexpr auto kPatience = std::chrono::seconds(30);

class LiveTest : public testing::Test {
 protected:
  LiveTest() : run_(make_counting({.workers = 2, .mode = "waits"}), {.directory = directory_}) {
    EXPECT_TRUE(run_.wait_ready(kPatience));
  }

  static std::string answer(AdminClient& client, const std::string& request) {
    client.ask(request, after(kPatience));
    return client.next(after(kPatience)).value_or("nothing");
  }
  std::string answer(const std::string& request) const {
    AdminClient client(directory_);
    return answer(client, request);
  }

  const test::Directory temporary_;
  // Longer than the address of a socket may be.
  const std::filesystem::path directory_ = temporary_.path() / std::string(100, 'a') / std::string(100, 'b');
  lp::Run run_;
};

TEST_F(LiveTest, TheSocketIsForThisUserAlone) {
  struct stat status {};
  ASSERT_EQ(stat((directory_ / "socket").c_str(), &status), 0);
  EXPECT_TRUE(S_ISSOCK(status.st_mode));
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  ASSERT_EQ(stat(directory_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
}

TEST_F(LiveTest, WaitsAreThoseOfAllNodesAndThreads) {
  const auto record = from_json<WaitsRecord>(answer(R"({"ask":"waits"})"));
  ASSERT_EQ(record.processes.size(), 3U);
  std::vector<ThreadState> threads;
  for (const WaitsRecord::Process& process : record.processes) {
    ASSERT_TRUE(process.waits.has_value() && process.threads.has_value());
    ASSERT_EQ(process.waits->nodes.size(), 1U);
    EXPECT_EQ(process.waits->nodes[0].node, process.nodes[0]);
    threads.insert(threads.end(), process.threads->begin(), process.threads->end());
  }
  EXPECT_TRUE(std::any_of(threads.begin(), threads.end(), [](const ThreadState& one) { return one.id == getpid(); }));
  EXPECT_NE(answer(R"({"ask":"stack"})").find("names a node"), std::string::npos);
  EXPECT_NE(answer(R"({"ask":"stack","node":"worker/7"})").find("there is no node"), std::string::npos);
}

TEST_F(LiveTest, SpansAreRecordedForOneClientUntilItLeaves) {
  const std::string ask = R"({"ask":"spans","share":1})";
  {
    AdminClient first(directory_);
    const auto record = from_json<SpansRecord>(answer(first, ask));
    EXPECT_EQ(record.processes.size(), 3U);
    EXPECT_EQ(unpack_spans(record.processes.front().spans).clock, record.clock);
    EXPECT_NE(answer(ask).find("being recorded already"), std::string::npos);
    const auto more = from_json<SpansRecord>(answer(first, ask));
    EXPECT_GT(more.time, record.time);
  }
  // The run learns soon that the client has left.
  while (answer(ask).find("being recorded already") != std::string::npos) {
  }
  EXPECT_NE(answer(R"({"ask":"spans","share":2})").find("a share is between 0 and 1"), std::string::npos);
}

TEST_F(LiveTest, StatusIsThatOfTheRun) {
  const auto status = from_json<RunStatus>(answer(R"({"ask":"status"})"));
  EXPECT_EQ(status.run, run_.name());
  EXPECT_EQ(status.nodes.size(), 3U);
  EXPECT_EQ(status.phase, Phase::running);
}

TEST_F(LiveTest, WhoFollowsSeesTheEnd) {
  AdminClient client(directory_);
  client.ask(R"({"ask":"follow"})", after(kPatience));
  EXPECT_EQ(from_json<RunStatus>(client.next(after(kPatience)).value_or("{}")).phase, Phase::running);
  EXPECT_EQ(answer(R"({"ask":"stop","reason":"enough","by":"ann"})"), R"({"done":"it stops"})");
  std::optional<RunStatus> last;
  while (const auto line = client.next(after(kPatience))) last = from_json<RunStatus>(*line);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->phase, Phase::ended);
  EXPECT_FALSE(client.open());
  EXPECT_EQ(run_.wait().ending(), Ending::stopped);
  EXPECT_EQ(run_.wait().reason, "enough");
  EXPECT_EQ(run_.wait().stopped_by, "ann");
  EXPECT_TRUE(std::filesystem::exists(directory_ / "result.json"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "socket"));
  EXPECT_FALSE(AdminClient(directory_).open());
}

// Spans of a worker in a process of its own, which begins again while they are recorded.
class SpansOfARestart : public testing::Test {
 protected:
  SpansOfARestart() : run_(make_counting(kConfig), options()), client_(directory_.path()) {
    EXPECT_TRUE(run_.wait_ready(kPatience));
    first_ = ask();
    wait_for_calls();
  }

  SpansRecord ask() { return from_json<SpansRecord>(answer(R"({"ask":"spans","share":1})")); }
  std::string answer(const std::string& request) {
    client_.ask(request, after(kPatience));
    return client_.next(after(kPatience)).value_or("nothing");
  }
  NodeStatus worker() { return run_.status().nodes[1]; }
  // One call at least has begun and ended meanwhile.
  void wait_for_calls() {
    const auto total = [this] { return run_.client(Handle<test::Counter>("counter")).call<&test::Counter::total>(); };
    const Time end = after(kPatience);
    for (const int before = total(); total() < before + 2 && !passed(end);) {
    }
  }
  void wait_for_restart() {
    const Time end = after(kPatience);
    while ((worker().incarnation < 2 || worker().state != NodeStatus::State::running) && !passed(end)) {
    }
  }
  // The calls of the worker that were begun in this time.
  static std::size_t calls(const SpansRecord& record, Time from, Time to) {
    std::size_t count = 0;
    for (const SpansRecord::Process& process : record.processes) {
      if (process.nodes.front() != "worker/0") continue;
      for (const SpanRecord& one : unpack_spans(process.spans).recorded.records) {
        count += one.kind == SpanRecord::Kind::call && one.begin >= from && one.begin < to ? 1U : 0U;
      }
    }
    return count;
  }

  const Config kConfig{.workers = 1, .mode = "calls at a pace", .restart = true};
  const test::Directory directory_;
  lp::Run run_;
  AdminClient client_;
  SpansRecord first_;

 private:
  LaunchOptions options() const {
    LaunchOptions options = test::processes(kConfig);
    options.directory = directory_.path();
    return options;
  }
};

TEST_F(SpansOfARestart, AreAllThereWhenItIsAsked) {
  const Time restarted = now();
  EXPECT_EQ(answer(R"({"ask":"restart","node":"worker/0"})"), R"({"done":"worker/0 is restarted"})");
  wait_for_restart();
  wait_for_calls();
  const Time asked = now();
  const SpansRecord second = ask();
  EXPECT_GE(calls(second, Time(), restarted), 1U);
  EXPECT_GE(calls(second, restarted, asked), 1U);
  EXPECT_TRUE(second.lost.empty());
  EXPECT_TRUE(second.silent.empty());
}

TEST_F(SpansOfARestart, AreLostForAWhileWhenItIsKilledAndTheAnswerSaysSo) {
  const Time killed = now();
  kill(worker().pid, SIGKILL);
  wait_for_restart();
  wait_for_calls();
  const Time asked = now();
  const SpansRecord second = ask();
  EXPECT_EQ(calls(second, Time(), killed), 0U);
  EXPECT_GE(calls(second, killed, asked), 1U);
  ASSERT_EQ(second.lost.size(), 1U);
  EXPECT_EQ(second.lost[0].nodes, std::vector<std::string>{"worker/0"});
  EXPECT_LE(second.lost[0].since, first_.time);
  EXPECT_GE(Time(Duration(second.lost[0].ended)), killed);
  EXPECT_TRUE(ask().lost.empty());  // only one answer has it
}

TEST_F(SpansOfARestart, TheLastOnesComeWithoutARequest) {
  const Time stopped = now();
  run_.stop("enough");
  const auto line = client_.next(after(kPatience));
  ASSERT_TRUE(line.has_value());
  const auto last = from_json<SpansRecord>(*line);
  EXPECT_GE(calls(last, Time(), stopped), 1U);
  EXPECT_TRUE(last.lost.empty());
}

TEST(LiveStall, ARunInWhichNothingMovesSaysSoInItsStatusAndItsEvents) {
  const test::Directory directory;
  lp::Run run(make_counting({.workers = 1, .mode = "waits"}),
              {.directory = directory.path(), .heartbeat = std::chrono::milliseconds(100)});
  ASSERT_TRUE(run.wait_ready(kPatience));
  AdminClient client(directory.path());
  client.ask(R"({"ask":"follow"})", after(kPatience));
  RunStatus status;
  while (status.stalled.empty()) {
    const auto line = client.next(after(kPatience));
    ASSERT_TRUE(line.has_value());
    status = from_json<RunStatus>(*line);
  }
  EXPECT_TRUE(status.stalled.ends_with("; these nodes wait: worker/0 in its run()")) << status.stalled;
  EXPECT_NE(test::contents(directory.path() / "events.log").find("\"kind\":\"stalled\""), std::string::npos);
  run.stop("enough");
  EXPECT_TRUE(run.wait().success);
  EXPECT_EQ(run.status().stalled, "");
}

TEST_F(LiveTest, WhatIsNoRequestIsRefusedWithASentence) {
  for (const auto& [request, text] : std::vector<std::pair<std::string, std::string>>{
           {"", "a value is missing"},
           {"GET / HTTP/1.1", "this is not a request: this is not JSON"},
           {"{}", "`ask` is missing"},
           {R"({"ask":"dance"})", "one of status, follow, measure, stop, restart"},
           {R"({"ask":7})", "one of status, follow, measure, stop, restart"},
           {std::string("\0\xff\x01", 3), "not UTF-8"},
           {std::string(10'000, '['), "nested too deeply"},
           {std::string(AdminServer::kLongestRequest + 1, 'x'), "a request may have at most 65536 bytes"}}) {
    const std::string refused = answer(request);
    EXPECT_TRUE(refused.starts_with(R"({"error":")")) << refused;
    EXPECT_NE(refused.find(text), std::string::npos) << refused;
  }
  EXPECT_EQ(run_.status().phase, Phase::running);
}

TEST_F(LiveTest, ARestartOfAnUnknownNodeIsRefusedAndTheConnectionStays) {
  AdminClient client(directory_);
  EXPECT_EQ(answer(client, R"({"ask":"restart","node":"worker/7"})"),
            R"({"error":"there is no node \"worker/7\"; did you mean worker/0?"})");
  EXPECT_TRUE(answer(client, R"({"ask":"status"})").starts_with("{\"run\":"));
}

TEST_F(LiveTest, ManyRequestsAtOnceAreAllAnswered) {
  AdminClient client(directory_);
  std::string many;
  for (int i = 0; i < 200; ++i) many += "{\"ask\":\"status\"}\n";
  many.pop_back();
  client.ask(many, after(kPatience));
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(client.next(after(kPatience)).has_value()) << i;
}

TEST_F(LiveTest, ClientsAreBounded) {
  std::vector<AdminClient> clients;
  for (std::size_t i = 0; i < AdminServer::kClients; ++i) {
    clients.emplace_back(directory_);
    ASSERT_TRUE(answer(clients.back(), R"({"ask":"status"})").starts_with("{\"run\":"));
  }
  EXPECT_NE(answer(R"({"ask":"status"})").find("this run serves 64 other clients"), std::string::npos);
  clients.pop_back();
  ASSERT_TRUE(answer(clients.back(), R"({"ask":"status"})").starts_with("{\"run\":"));
}

TEST_F(LiveTest, WhoNeverReadsDoesNotHoldUpTheRun) {
  AdminClient silent(directory_);
  for (int i = 0; i < 2000; ++i) silent.ask(R"({"ask":"follow"})", after(std::chrono::milliseconds(1)));
  EXPECT_TRUE(answer(R"({"ask":"status"})").starts_with("{\"run\":"));
  run_.stop("enough");
  EXPECT_TRUE(run_.wait_for(kPatience));
}

TEST_F(LiveTest, ANodeThatIsAThreadIsRestarted) {
  EXPECT_EQ(answer(R"({"ask":"restart","node":"worker/0"})"), R"({"done":"worker/0 is restarted"})");
  AdminClient client(directory_);
  client.ask(R"({"ask":"follow"})", after(kPatience));
  while (const auto line = client.next(after(kPatience))) {
    const auto status = from_json<RunStatus>(*line);
    if (status.nodes[1].incarnation == 2 && status.nodes[1].state == NodeStatus::State::running) {
      EXPECT_EQ(status.nodes[1].restarts, 0);
      return;
    }
  }
  FAIL() << "it has not been restarted";
}

}  // namespace
}  // namespace lp::launch
