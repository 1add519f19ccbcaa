// Inference servers whose versions change under load, in threads and in processes, and one that is really killed.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "launchers/test_run.h"
#include "nodes/serving/balancer.h"
#include "nodes/serving/load_generator.h"
#include "nodes/serving/published_server.h"
#include "tests/launchers/tools_for_test.h"
#include "tests/programs/programs_for_test.h"

namespace lp::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Publishes a version every few milliseconds: its own number.
class Publisher {
 public:
  void run(Context& node) {
    std::uint64_t version = 0;
    do {
      node.exclusive([&] { numbers.publish(++version); });
    } while (node.wait_for(milliseconds(5)));
  }
  Published<std::uint64_t> numbers;
  using Remote = Methods<&Publisher::numbers>;
};

using Service = InferenceServer<std::uint64_t, std::uint64_t>;
using Server = PublishedServer<&Publisher::numbers, std::uint64_t, std::uint64_t>;

Server::Model adding(const Version<std::uint64_t>& number) {
  const auto answer = [number = *number](const std::vector<std::uint64_t>& requests) {
    std::vector<std::uint64_t> replies;
    for (const std::uint64_t one : requests) replies.push_back(one + number);
    return replies;
  };
  return {.version = number.number(), .answer = answer};
}

class Serving {
 public:
  explicit Serving(LaunchType launch) : run_(make_serving({}), options(launch)) {}

  lp::Run& run() { return run_; }
  Balancer<Service> balancer() { return Balancer<Service>(run_.client(GroupHandle<Service>(servers()))); }
  static GroupHandle<Server> servers() { return GroupHandle<Server>("server", 2); }
  NodeStatus status_of(const std::string& name) {
    for (const NodeStatus& one : run_.status().nodes) {
      if (one.name == name) return one;
    }
    ADD_FAILURE() << "there is no " << name;
    return {};
  }

 private:
  static LaunchOptions options(LaunchType launch) {
    LaunchOptions options = processes(ServingConfig(), "serving");
    options.launch = launch;
    return options;
  }
  TestRun run_;
};

class ServingInEachLaunch : public testing::TestWithParam<LaunchType> {};
INSTANTIATE_TEST_SUITE_P(Launches, ServingInEachLaunch, testing::Values(LaunchType::threads, LaunchType::processes),
                         [](const auto& one) { return one.param == LaunchType::threads ? "Threads" : "Processes"; });

TEST_P(ServingInEachLaunch, AVersionChangeUnderLoadLosesAndMixesNothing) {
  Serving serving(GetParam());
  const Balancer<Service> servers = serving.balancer();
  std::set<std::uint64_t> versions;
  std::uint64_t newest = 0;  // that an answer has named: a later request demands it, from whichever server
  std::uint64_t mixed = 0;
  std::mutex mutex;
  const auto demand = [&](std::uint64_t number) -> std::uint64_t {
    const std::lock_guard lock(mutex);
    return number % 8 == 0 ? newest : 0;
  };
  const LoadReport report = drive_load(
      {.length = seconds(1), .under_way = 64},
      [&](std::uint64_t number) { return servers.async<&Service::ask>(number, demand(number)); },
      [&](std::uint64_t number, const Answer<std::uint64_t>& answer) {
        const std::lock_guard lock(mutex);
        mixed += answer.value != number + answer.version;
        versions.insert(answer.version);
        newest = std::max(newest, answer.version);
      });
  EXPECT_EQ(mixed, 0U);
  EXPECT_EQ(report.asked(), report.answered);
  EXPECT_GT(report.answered, 100U);
  EXPECT_GT(versions.size(), 3U);
}

TEST(Serving, AKilledServerIsLeftOutLosesNoRequestAndComesBack) {
  Serving serving(LaunchType::processes);
  const Balancer<Service> servers = serving.balancer();
  const int pid = serving.status_of("server/0").pid;
  const auto ask = [&](std::uint64_t number) {
    if (number == 300) kill(pid, SIGKILL);
    return servers.async<&Service::ask>(number, 0U);
  };
  const LoadReport report =
      drive_load({.length = seconds(1), .under_way = 16}, ask,
                 [](std::uint64_t number, const auto& answer) { EXPECT_EQ(answer.value, number + answer.version); });
  EXPECT_GT(report.answered, 300U);
  EXPECT_EQ(report.asked(), report.answered);
  // The next incarnation gets requests, too.
  const auto first = serving.run().client(Serving::servers())[0];
  const Time end = after(seconds(20));
  while (first.call<&Service::statistics>().answered == 0 && now() < end) servers.call<&Service::ask>(1U, 0U);
  EXPECT_GT(first.call<&Service::statistics>().answered, 0U);
  EXPECT_EQ(serving.status_of("server/0").restarts, 1);
}

}  // namespace

Program make_serving(const ServingConfig& config) {
  Program program("serving");
  const auto publisher = program.add<Publisher>({.name = "publisher"});
  program.group<Server>({.name = "server", .replicas = config.replicas, .on_failure = restart(3)}, publisher, adding,
                        ServingOptions{.batch = {.most = 16}}, Duration(milliseconds(2)));
  return program;
}

}  // namespace lp::test
