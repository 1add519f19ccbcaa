#include "launchers/agent/child_table.h"

#include <gtest/gtest.h>

#include <memory>

namespace lp::launch {
namespace {

std::unique_ptr<Child> child(std::uint64_t serial, std::uint32_t incarnation, pid_t pid) {
  auto made = std::make_unique<Child>();
  made->serial = serial;
  made->process = 3;
  made->incarnation = incarnation;
  made->pid = pid;
  return made;
}

TEST(ChildTable, FindsAChildByEachOfItsNumbers) {
  ChildTable table;
  EXPECT_TRUE(table.empty());
  const Child& added = table.add(child(1, 1, 100));
  EXPECT_EQ(table.find(1), &added);
  EXPECT_EQ(table.find_pid(100), &added);
  EXPECT_EQ(table.find_process(3, 1), &added);
  EXPECT_EQ(table.find(2), nullptr);
  EXPECT_EQ(table.find_pid(101), nullptr);
  EXPECT_EQ(table.find_process(3, 2), nullptr);
}

TEST(ChildTable, TheEndOfAnOldIncarnationLeavesTheNewOne) {
  ChildTable table;
  const Child& old = table.add(child(1, 1, 100));
  const Child& next = table.add(child(2, 2, 101));
  EXPECT_EQ(table.find_process(3, 1), nullptr);  // messages go to the newest
  EXPECT_EQ(table.find_pid(100), &old);          // until it is reaped
  table.remove(old);
  EXPECT_EQ(table.find_process(3, 2), &next);
  EXPECT_EQ(table.all().size(), 1U);
}

}  // namespace
}  // namespace lp::launch
