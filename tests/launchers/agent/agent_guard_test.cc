// A run leaves nothing behind, whichever of its supervising processes is killed.

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <fstream>
#include <memory>
#include <vector>

#include "launchers/os/spawn.h"
#include "tests/launchers/main_fixture.h"
#include "tests/launchers/watched.h"

namespace lp::test {
namespace {

// The only child of a launcher.
int agent_of(int launcher) {
  std::ifstream file("/proc/" + std::to_string(launcher) + "/task/" + std::to_string(launcher) + "/children");
  int agent = 0;
  file >> agent;
  return agent;
}

TEST_F(MainTest, ALauncherAndAnAgentKilledInOneMomentLeaveNothing) {
  Subprocess program(arguments({with_processes(), "--mode=leaves a daemon"}));
  ASSERT_TRUE(program.read_until("waiting"));
  const AllWatched processes = watch(launch::descendants(program.pid()));
  EXPECT_EQ(processes.size(), 6u);  // agent, guard, counter, workers, daemon
  const int agent = agent_of(program.pid());
  ASSERT_GT(agent, 0);
  program.kill(SIGSTOP);  // so that it cannot act
  kill(agent, SIGKILL);
  program.kill(SIGKILL);
  expect_end_within(std::chrono::seconds(2), processes);
}

// A process of a node's process group, whose parent is this one. With it the group does not become an orphan when the
// agent ends. The kernel sends SIGHUP to an orphan that has stopped processes, and that signal would end the node, too.
class Companion {
 public:
  explicit Companion(int node) : pid_(fork()) {
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
    EXPECT_EQ(setpgid(pid_, node), 0);
  }
  ~Companion() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

 private:
  const pid_t pid_;
};

// The kernel ends them, by the parent-death signal, when no process can.
TEST_F(MainTest, NodesOfAKilledAgentEndAlsoWhenNeitherItsReaperNorItsLauncherCanAct) {
  Subprocess program(arguments({with_processes(), "--mode=says that it waits"}));
  ASSERT_TRUE(program.read_until("waiting"));
  const int agent = agent_of(program.pid());
  ASSERT_GT(agent, 0);
  AllWatched nodes;
  std::vector<std::unique_ptr<Companion>> companions;
  for (const pid_t process : launch::descendants(agent)) {
    const bool node = has(command_line_of(process), "--lp-node=");
    if (node) {
      nodes.push_back(std::make_unique<Watched>(process));
      companions.push_back(std::make_unique<Companion>(process));
    }
    kill(process, node ? SIGSTOP : SIGKILL);  // the node cannot end by itself; or the guard
  }
  EXPECT_EQ(nodes.size(), 3u);  // counter, workers
  program.kill(SIGSTOP);
  kill(agent, SIGKILL);
  expect_end_within(std::chrono::seconds(2), nodes);
  for (const auto& node : nodes) {
    if (!node->ends_within({})) kill(node->pid(), SIGKILL);
  }
}

}  // namespace
}  // namespace lp::test
