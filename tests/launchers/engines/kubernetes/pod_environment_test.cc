// The processes of pods, without Kubernetes: a coordinator that agents dial, the end of one of them, and the check that
// nothing is left.

#include "launchers/engines/kubernetes/pod_environment.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "launchers/agent/agent.h"
#include "launchers/control/process_roles.h"
#include "launchers/os/spawn.h"
#include "launchers/remote/agent_dialer.h"
#include "tests/launchers/main_fixture.h"
#include "tests/launchers/programs_for_test.h"
#include "tests/launchers/reserved_port.h"
#include "tests/launchers/watched.h"

namespace lp::test {
namespace {

class PodsTest : public MainTest {
 protected:
  PodsTest() {
    setenv(launch::kCoordinatorVariable, ("tcp://127.0.0.1:" + std::to_string(port_.number())).c_str(), 1);
    setenv(launch::kAddressVariable, "127.0.0.1", 1);
  }
  ~PodsTest() override {
    for (const char* name : {launch::kCoordinatorVariable, launch::kAddressVariable, launch::kKeysVariable})
      unsetenv(name);
  }

  // Keys for the pods of a program with this many workers.
  void make_keys(int workers) {
    names_ = launch::pod_names(make_plan(make_counting({.workers = workers})));
    launch::AcceptorKeys coordinator{.own = make_curve_keys()};
    for (const std::string& name : names_) {
      const CurveKeys own = make_curve_keys();
      coordinator.others.push_back(own.public_key);
      write_keys(name, {.own = own, .others = {coordinator.own.public_key}});
    }
    write_keys("coordinator", coordinator);
  }
  void write_keys(const std::string& pod, const launch::AcceptorKeys& keys) const {
    std::ofstream(directory_ / (pod + ".keys")) << launch::to_text(keys);
  }

  std::unique_ptr<Subprocess> start(const std::string& pod, const std::vector<std::string>& arguments) const {
    setenv(launch::kKeysVariable, (directory_ / (pod + ".keys")).c_str(), 1);
    return std::make_unique<Subprocess>(arguments);
  }
  std::unique_ptr<Subprocess> start_coordinator(std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"--launch=kubernetes", "--grace=2"});
    return start("coordinator", arguments(std::move(flags)));
  }
  std::unique_ptr<Subprocess> start_agent(const std::string& pod) const {
    return start(pod, {std::string(launch::kDialFlag) + mark(pod).substr(std::string("LP_RUN=").size())});
  }
  void start_agents() {
    for (const std::string& name : names_) agents_.push_back(start_agent(name));
  }

  // The run is named after its directory.
  static std::string mark(const std::string& pod) { return launch::run_mark("run1", pod); }
  // Leaves out processes of other binaries, which may have a run of the same name on this host.
  std::vector<int> all_processes() const {
    std::vector<int> all;
    for (const std::string& name : names_) {
      for (const int process : marked(mark(name))) {
        std::error_code gone;
        const std::filesystem::path binary = "/proc/" + std::to_string(process) + "/exe";
        if (std::filesystem::equivalent(binary, "/proc/self/exe", gone)) all.push_back(process);
      }
    }
    return all;
  }

  const ReservedPort port_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<Subprocess>> agents_;
};

TEST_F(PodsTest, AProgramRunsInPodsAsItDoesHere) {
  make_keys(3);
  EXPECT_EQ(names_, (std::vector<std::string>{"counter", "worker-0", "worker-1", "worker-2"}));
  start_agents();  // they wait for their coordinator
  const auto program = start_coordinator({"--json", "--workers=3"});
  ASSERT_EQ(program->wait().code, 0) << program->err();
  EXPECT_TRUE(has(program->last_line(), "\"total\":15")) << program->last_line();
  EXPECT_TRUE(has(program->last_line(), "\"launch\":\"kubernetes\"")) << program->last_line();
  for (const auto& agent : agents_) EXPECT_EQ(agent->wait().code, 0) << agent->err();
  expect_end_within(std::chrono::seconds(5), watch(all_processes()));  // the guards
}

TEST_F(PodsTest, APodThatIsKilledIsReplacedByAnotherWithItsKey) {
  make_keys(2);
  start_agents();
  const auto program = start_coordinator({"--mode=says that it waits", "--workers=2", "--restart"});
  ASSERT_TRUE(program->read_until("waiting"));
  agents_[2]->kill(SIGKILL);
  EXPECT_TRUE(program->read_until("worker/1: was lost with its host worker-1: the connection ended")) << program->err();
  EXPECT_TRUE(program->read_until("restart 1 of 2"));
  agents_[2]->wait();
  agents_[2] = start_agent("worker-1");
  const std::size_t said = program->err().size();
  EXPECT_TRUE(program->read_until("waiting", said));
  program->kill(SIGINT);
  EXPECT_EQ(program->wait().code, 130) << program->err();
  for (const auto& agent : agents_) EXPECT_EQ(agent->wait().code, 0) << agent->err();
  expect_end_within(std::chrono::seconds(5), watch(all_processes()));  // the guards
}

TEST_F(PodsTest, AMemberOfAnElasticGroupComesWithItsPod) {
  make_keys(2);
  for (const std::string pod : {"counter", "worker-0"}) agents_.push_back(start_agent(pod));
  const auto program = start_coordinator({"--mode=says that it waits", "--workers=1..2"});
  ASSERT_TRUE(
      program->read_until("group worker starts with 1 of 1..2 members: has no host: worker-1 is not connected yet"))
      << program->err();
  // An agent that has not dialed when the run is over would not be notified.
  Event never;
  const Time end = after(std::chrono::seconds(30));
  while (!has(contents(directory_ / "run1" / "events.log"), R"("kind":"ready","node":"worker/0")") && !passed(end)) {
    never.wait(after(std::chrono::milliseconds(5)));
  }
  agents_.push_back(start_agent("worker-1"));
  EXPECT_TRUE(program->read_until("worker/1 has joined; the program continues with it")) << program->err();
  EXPECT_TRUE(program->read_until("waiting"));
  program->kill(SIGINT);
  EXPECT_EQ(program->wait().code, 130) << program->err();
  for (const auto& agent : agents_) EXPECT_EQ(agent->wait().code, 0) << agent->err();
}

TEST_F(PodsTest, APodThatIsAskedToEndLeavesNothing) {
  make_keys(1);
  start_agents();
  const auto program = start_coordinator({"--mode=leaves a daemon", "--workers=1"});
  ASSERT_TRUE(program->read_until("waiting"));
  const auto processes = watch(marked(mark("worker-0")));
  EXPECT_GE(processes.size(), 4u);  // agent, guard, node, daemon
  agents_[1]->kill(SIGTERM);
  EXPECT_EQ(program->wait().code, 1);
  EXPECT_TRUE(has(program->err(), "was lost with its host worker-0")) << program->err();
  expect_end_within(std::chrono::seconds(5), processes);
}

TEST_F(PodsTest, ACoordinatorThatIsKilledLeavesNothingLongerThanTheGracePeriod) {
  make_keys(2);
  start_agents();
  const auto program = start_coordinator({"--mode=leaves a daemon", "--workers=2"});
  ASSERT_TRUE(program->read_until("waiting"));
  Event never;  // one of the workers waits; the other's processes come
  for (const Time end = after(std::chrono::seconds(30)); all_processes().size() < 3u * 3 + 1 && !passed(end);) {
    never.wait(after(std::chrono::milliseconds(5)));
  }
  const auto processes = watch(all_processes());
  EXPECT_GE(processes.size(), 3u * 3 + 1);
  program->kill(SIGKILL);
  expect_end_within(std::chrono::seconds(10), processes);
  for (const auto& agent : agents_) {  // not 0: they are started again
    EXPECT_EQ(agent->wait().code, launch::kForsaken) << agent->err();
  }
}

TEST_F(PodsTest, AProgramThatWasRenderedWithOtherFlagsIsRefused) {
  make_keys(2);
  const auto program = start_coordinator({"--workers=3"});
  EXPECT_EQ(program->wait().code, 2);
  EXPECT_TRUE(has(program->err(), "has keys for 3 processes, and the program has 4")) << program->err();
}

}  // namespace
}  // namespace lp::test
