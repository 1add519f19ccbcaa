// Nothing keeps a program from stopping, and no call waits for ever.

#include <gtest/gtest.h>

#include <optional>

#include "launchers/test_run.h"
#include "lp/base/error.h"
#include "tests/faults/programs_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Handle<Service> kFirst("service/0");
const Handle<Service> kSecond("service/1");

LaunchOptions in_processes(const Config& config, const std::string& entry = "services") {
  LaunchOptions options = processes(config, entry);
  options.grace = milliseconds(300);
  return options;
}

template <class F>
std::optional<Error> error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

class HandlerThatNeverReturns : public testing::TestWithParam<bool> {};

TEST_P(HandlerThatNeverReturns, IsEndedByForceAfterTheGracePeriodAndReported) {
  const Config config{.nodes = 2};
  TestRun run(make_services(config), in_processes(config));
  auto stuck = GetParam() ? run.client(kFirst).async<&Service::spin>() : run.client(kFirst).async<&Service::block>();
  auto unanswered = run.client(kSecond).async<&Service::never>();
  EXPECT_EQ(run.client(kSecond).call<&Service::add>(1, 2), 3);
  while (!run.client(kFirst).call<&Service::stuck>()) {
  }
  const Time begin = now();
  run.stop("enough");
  const auto error = error_of([&] { stuck.get(); });
  const auto other = error_of([&] { unanswered.get(); });
  ASSERT_TRUE(run.wait_for(seconds(10)));
  EXPECT_LT(now() - begin, seconds(5));
  EXPECT_EQ(run.wait().exit_code(), 1);
  EXPECT_NE(run.wait().cause.text().find("service/0: did not end within the grace period"), std::string::npos)
      << run.wait().cause.text();
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), ErrorKind::stopped) << error->what();
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->kind(), ErrorKind::stopped) << other->what();
}

INSTANTIATE_TEST_SUITE_P(Stop, HandlerThatNeverReturns, testing::Values(true, false),
                         [](const auto& one) { return one.param ? "Spins" : "Blocks"; });

TEST(Stop, WithoutAGracePeriodNodesAreEndedAtOnceAndThatIsNoFailure) {
  const Config config{.nodes = 2};
  LaunchOptions options = in_processes(config);
  options.grace = Duration{};
  TestRun run(make_services(config), options);
  auto stuck = run.client(kFirst).async<&Service::block>();
  while (!run.client(kFirst).call<&Service::stuck>()) {
  }
  run.stop("enough");
  ASSERT_TRUE(run.wait_for(seconds(10)));
  EXPECT_EQ(run.wait().exit_code(), 0) << run.wait().cause.text();
}

TEST(Stop, ACallAfterTheEndSaysSo) {
  const Config config{.nodes = 1};
  for (const LaunchType launch : {LaunchType::processes, LaunchType::threads}) {
    LaunchOptions options = in_processes(config);
    options.launch = launch;
    TestRun run(make_services(config), options);
    run.stop("enough");
    run.wait();
    const Time begin = now();
    const auto error = error_of([&] { run.client(kFirst).call<&Service::add>(1, 2); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->kind(), ErrorKind::stopped) << error->what();
    EXPECT_LT(now() - begin, seconds(5));
  }
}

TEST(Stop, ACallThatNobodyAnswersEndsAtItsDeadline) {
  const Config config{.nodes = 1};
  TestRun run(make_services(config), in_processes(config));
  const Time begin = now();
  const auto error = error_of([&] { run.client(kFirst).within(milliseconds(200)).call<&Service::never>(); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), ErrorKind::deadline);
  EXPECT_TRUE(error->may_have_run());
  EXPECT_GE(now() - begin, milliseconds(200));
  EXPECT_LT(now() - begin, seconds(5));
  EXPECT_EQ(run.client(kFirst).call<&Service::add>(1, 2), 3);
}

// The last call of the ring comes back to a service that waits in the same chain: it is refused.
void refuse_the_chain(int nodes, const std::string& chain) {
  const Config config{.nodes = nodes};
  TestRun run(make_ring(config), in_processes(config, "ring"));
  const auto a = run.client(Handle<RingMember>("a"));
  EXPECT_EQ(a.call<&RingMember::around>(nodes - 1), 0);
  const Time begin = now();
  const auto error = error_of([&] { a.call<&RingMember::around>(nodes); });
  ASSERT_TRUE(error.has_value());
  EXPECT_LT(now() - begin, seconds(5));
  EXPECT_NE(std::string(error->what()).find("busy in the same chain"), std::string::npos) << error->what();
  EXPECT_NE(std::string(error->what()).find(chain), std::string::npos) << error->what();
  EXPECT_EQ(a.call<&RingMember::around>(nodes - 1), 0);
}

TEST(Stop, AChainThatComesBackIsRefusedAcrossTwoProcesses) { refuse_the_chain(2, "a → b"); }
TEST(Stop, AChainThatComesBackIsRefusedAcrossThreeProcesses) { refuse_the_chain(3, "a → b → c"); }

}  // namespace
}  // namespace lp::test
