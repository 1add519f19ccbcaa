// The line by which the system describes a process or a thread.

#include "launchers/os/process_stat.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <ctime>
#include <string>

namespace lp::launch {
namespace {

TEST(ProcessStatTest, ThisProcess) {
  const std::optional<ProcessStat> stat = process_stat("/proc/" + std::to_string(getpid()));
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->id, getpid());
  EXPECT_EQ(stat->parent, getppid());
  EXPECT_EQ(stat->state, 'R');
  EXPECT_NEAR(stat->cpu, static_cast<double>(std::clock()) / CLOCKS_PER_SEC, 0.1);
}

TEST(ProcessStatTest, ANameMayLookLikeTheOtherFields) {
  std::string name(16, '\0');
  prctl(PR_GET_NAME, name.data());
  prctl(PR_SET_NAME, ") Z 1\n(2 )");
  const std::optional<ProcessStat> stat =
      process_stat("/proc/" + std::to_string(getpid()) + "/task/" + std::to_string(gettid()));
  prctl(PR_SET_NAME, name.data());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->id, gettid());
  EXPECT_EQ(stat->name, ") Z 1\n(2 )");
  EXPECT_EQ(stat->state, 'R');
  EXPECT_EQ(stat->parent, getppid());
}

TEST(ProcessStatTest, NoSuchProcess) { EXPECT_FALSE(process_stat("/proc/0")); }

}  // namespace
}  // namespace lp::launch
