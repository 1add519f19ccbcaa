// A known caller that takes no replies: the replies that wait for it are bounded, others are served meanwhile, and when
// it continues it gets all its replies.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "launchers/test_run.h"
#include "tests/faults/programs_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The usage of another process, from /proc/PID/stat: see proc(5).
struct Resources {
  char state = '?';
  std::size_t memory = 0;  // resident, bytes
  double computed = 0;     // seconds
};
Resources usage_of(int pid) {
  const std::string text = contents("/proc/" + std::to_string(pid) + "/stat");
  Resources usage;
  long user = 0;
  long system = 0;
  long pages = 0;
  std::sscanf(text.c_str() + text.rfind(')') + 1,
              " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld %*d %*d %*d %*d "
              "%*d %*d %*u %*u %ld",
              &usage.state, &user, &system, &pages);
  usage.memory = static_cast<std::size_t>(pages * sysconf(_SC_PAGESIZE));
  usage.computed = static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return usage;
}

int pid_of(const Run& run, const std::string& name) {
  for (const NodeStatus& node : run.status().nodes) {
    if (node.name == name) return node.pid;
  }
  return 0;
}

class SlowReader : public testing::TestWithParam<bool> {};

TEST_P(SlowReader, IsWaitedForWithinBoundsAndGetsAll) {
  constexpr int kCalls = 300;  // each of 1 MiB
  const Config config;
  LaunchOptions options = processes(config, "hoarder");
  options.path = Path::tcp;
  options.curve = GetParam();
  TestRun run(make_hoarder(config), options);
  const auto service = run.client(Handle<Service>("service"));
  EXPECT_EQ(service.call<&Service::add>(1, 2), 3);
  const int serving = pid_of(run, "service");
  const int hoarding = pid_of(run, "hoarder");
  const std::size_t before = usage_of(serving).memory;
  auto hoard = run.client(Handle<Hoarder>("hoarder")).async<&Hoarder::hoard>(kCalls);
  const Time patience = after(seconds(20));
  while (usage_of(hoarding).state != 'T' && now() < patience) {
  }
  std::size_t most = before;
  const double computed = usage_of(serving).computed;
  const Time begin = now();
  Event never;
  while (now() - begin < seconds(4)) {
    EXPECT_EQ(service.within(seconds(5)).call<&Service::add>(1, 2), 3);
    most = std::max(most, usage_of(serving).memory);
    never.wait(after(milliseconds(20)));
  }
  const double share = (usage_of(serving).computed - computed) / std::chrono::duration<double>(now() - begin).count();
  std::printf("%.1f MiB more, %.1f %% of a core\n", static_cast<double>(most - before) / (1 << 20), 100 * share);
#if !defined(LP_SANITIZED)  // sanitizers take memory and time themselves
  EXPECT_LT(most - before, std::size_t{64} << 20);
  EXPECT_LT(share, 0.2);
#endif
  EXPECT_EQ(usage_of(hoarding).state, 'T');
  kill(hoarding, SIGCONT);
  EXPECT_EQ(hoard.get(), kCalls);
}

INSTANTIATE_TEST_SUITE_P(, SlowReader, testing::Bool(),
                         [](const auto& curve) { return curve.param ? "WithKeys" : "WithASecret"; });

}  // namespace
}  // namespace lp::test
