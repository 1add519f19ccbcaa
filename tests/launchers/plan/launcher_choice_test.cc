// The launchers that the groups of a program may have together, and the consequences for its processes.

#include "launchers/plan/launcher_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "launchers/all_engines.h"
#include "lp/base/error.h"
#include "lp/lp.h"

namespace lp {
namespace {

using launch::LauncherChoice;

class Nothing {
 public:
  void run(Context&) {}
};

// A learner, two buffers, three actors and a logger that shares the learner's process.
Program program() {
  Program program("mixture");
  const auto learner = program.add<Nothing>({.name = "learner"});
  program.group<Nothing>({.name = "buffer", .replicas = 2});
  program.group<Nothing>({.name = "actor", .replicas = 3});
  program.colocate(learner, program.add<Nothing>({.name = "logger"}));
  return program;
}

GroupPlacement launcher(const std::string& group, const std::string& name) {
  return {.group = group, .file = "c.yaml", .line = 3, .launcher = name};
}

std::string refusal(LaunchType launch, const std::vector<GroupPlacement>& placements) {
  try {
    const Program built = program();
    const LauncherChoice launchers(built, launch, placements, launch::engines());
    static_cast<void>(launchers.of_processes(make_plan(built, {.together = launchers.together()})));
    return "none";
  } catch (const Error& error) {
    return error.text();
  }
}

TEST(LauncherChoice, OneOfAllGroupsIsThatOfTheRun) {
  const LauncherChoice flag(program(), LaunchType::ssh, {}, launch::engines());
  EXPECT_FALSE(flag.several());
  EXPECT_EQ(flag.of_run(), LaunchType::ssh);
  const std::vector<GroupPlacement> all{launcher("learner", "slurm"), launcher("buffer", "slurm"),
                                        launcher("actor", "slurm"), launcher("logger", "slurm")};
  const LauncherChoice file(program(), LaunchType::threads, all, launch::engines());
  EXPECT_FALSE(file.several());
  EXPECT_EQ(file.of_run(), LaunchType::slurm);
  EXPECT_EQ(file.text(), "slurm");
  EXPECT_EQ(file.of_groups(), std::vector<LaunchType>(4, LaunchType::slurm));
}

TEST(LauncherChoice, WithSeveralEachProcessHasItsOwn) {
  const std::vector<GroupPlacement> placements{launcher("buffer", "ssh"), launcher("actor", "slurm")};
  const Program built = program();
  const LauncherChoice launchers(built, LaunchType::processes, placements, launch::engines());
  EXPECT_TRUE(launchers.several());
  EXPECT_EQ(launchers.of_run(), LaunchType::processes);
  EXPECT_EQ(launchers.text(), "processes and ssh and slurm");
  EXPECT_TRUE(launchers.has(LaunchType::slurm));
  using L = LaunchType;
  EXPECT_EQ(launchers.of_processes(make_plan(built)),
            (std::vector<LaunchType>{L::processes, L::ssh, L::ssh, L::slurm, L::slurm, L::slurm}));
}

TEST(LauncherChoice, GroupsOfThreadsShareOneProcessHere) {
  const std::vector<GroupPlacement> placements{launcher("actor", "slurm")};
  const Program built = program();
  const LauncherChoice launchers(built, LaunchType::threads, placements, launch::engines());
  EXPECT_EQ(launchers.text(), "processes and slurm");
  const Plan plan = make_plan(built, {.together = launchers.together()});
  EXPECT_EQ(plan.processes, 4u);
  for (const char* const node : {"learner", "buffer/0", "buffer/1", "logger"}) {
    EXPECT_EQ(plan.nodes[*built.find(node)].process, 0u) << node;
  }
  using L = LaunchType;
  EXPECT_EQ(launchers.of_processes(plan), (std::vector<LaunchType>{L::processes, L::slurm, L::slurm, L::slurm}));
}

TEST(LauncherChoice, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_EQ(refusal(LaunchType::processes, {launcher("actor", "slurn")}),
            "c.yaml:3: group actor: there is no launcher \"slurn\"; did you mean slurm?; there are threads, processes, "
            "ssh, slurm, kubernetes");
  EXPECT_EQ(
      refusal(LaunchType::slurm,
              {{.group = "actor", .file = "c.yaml", .line = 3, .launcher = "processes", .slurm = {"--partition=gpu"}}}),
      "c.yaml:3: group actor has options of `slurm`, but its launcher is processes");
  const std::string pods =
      ": pods can be reached only within their cluster: give the launcher kubernetes to all groups of a program, or to "
      "none";
  EXPECT_EQ(refusal(LaunchType::processes, {launcher("actor", "kubernetes")}),
            "group actor has the launcher kubernetes, and group learner has processes" + pods);
  EXPECT_EQ(refusal(LaunchType::kubernetes, {launcher("actor", "ssh")}),
            "group learner has the launcher kubernetes, and group actor has ssh" + pods);
  EXPECT_EQ(refusal(LaunchType::processes, {launcher("logger", "ssh")}),
            "groups learner and logger share a process, but have different launchers: processes and ssh");
}

}  // namespace
}  // namespace lp
