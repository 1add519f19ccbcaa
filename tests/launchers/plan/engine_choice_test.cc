// The engines that the groups of a program may have together, and the consequences for its processes.

#include "launchers/plan/engine_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "launchers/all_engines.h"
#include "lp/base/error.h"
#include "lp/lp.h"

namespace lp {
namespace {

using launch::EngineChoice;

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

GroupPlacement on(const std::string& group, const std::string& name) {
  return {.group = group, .file = "c.yaml", .line = 3, .launcher = name};
}

std::string refusal(LaunchType launch, const std::vector<GroupPlacement>& placements) {
  try {
    const Program built = program();
    const EngineChoice choice(built, launch, placements, launch::engines());
    static_cast<void>(choice.of_processes(make_plan(built, {.together = choice.together()})));
    return "none";
  } catch (const Error& error) {
    return error.text();
  }
}

TEST(EngineChoice, OneOfAllGroupsIsThatOfTheRun) {
  const EngineChoice flag(program(), LaunchType::ssh, {}, launch::engines());
  EXPECT_FALSE(flag.several());
  EXPECT_EQ(flag.of_run(), LaunchType::ssh);
  const std::vector<GroupPlacement> all{on("learner", "slurm"), on("buffer", "slurm"), on("actor", "slurm"),
                                        on("logger", "slurm")};
  const EngineChoice file(program(), LaunchType::threads, all, launch::engines());
  EXPECT_FALSE(file.several());
  EXPECT_EQ(file.of_run(), LaunchType::slurm);
  EXPECT_EQ(file.text(), "slurm");
  EXPECT_EQ(file.of_groups(), std::vector<LaunchType>(4, LaunchType::slurm));
}

TEST(EngineChoice, WithSeveralEachProcessHasItsOwn) {
  const std::vector<GroupPlacement> placements{on("buffer", "ssh"), on("actor", "slurm")};
  const Program built = program();
  const EngineChoice choice(built, LaunchType::processes, placements, launch::engines());
  EXPECT_TRUE(choice.several());
  EXPECT_EQ(choice.of_run(), LaunchType::processes);
  EXPECT_EQ(choice.text(), "processes and ssh and slurm");
  EXPECT_TRUE(choice.has(LaunchType::slurm));
  using L = LaunchType;
  EXPECT_EQ(choice.of_processes(make_plan(built)),
            (std::vector<LaunchType>{L::processes, L::ssh, L::ssh, L::slurm, L::slurm, L::slurm}));
}

TEST(EngineChoice, GroupsOfThreadsShareOneProcessHere) {
  const std::vector<GroupPlacement> placements{on("actor", "slurm")};
  const Program built = program();
  const EngineChoice choice(built, LaunchType::threads, placements, launch::engines());
  EXPECT_EQ(choice.text(), "processes and slurm");
  const Plan plan = make_plan(built, {.together = choice.together()});
  EXPECT_EQ(plan.processes, 4u);
  for (const char* const node : {"learner", "buffer/0", "buffer/1", "logger"}) {
    EXPECT_EQ(plan.nodes[*built.find(node)].process, 0u) << node;
  }
  using L = LaunchType;
  EXPECT_EQ(choice.of_processes(plan), (std::vector<LaunchType>{L::processes, L::slurm, L::slurm, L::slurm}));
}

TEST(EngineChoice, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_EQ(refusal(LaunchType::processes, {on("actor", "slurn")}),
            "c.yaml:3: group actor: there is no engine \"slurn\"; did you mean slurm?; there are threads, processes, "
            "ssh, slurm, kubernetes");
  EXPECT_EQ(
      refusal(LaunchType::slurm,
              {{.group = "actor", .file = "c.yaml", .line = 3, .launcher = "processes", .slurm = {"--partition=gpu"}}}),
      "c.yaml:3: group actor has options of `slurm`, but its key `launcher` names processes");
  const std::string pods =
      ": pods can be reached only within their cluster: give the engine kubernetes to all groups of a program, or to "
      "none";
  EXPECT_EQ(refusal(LaunchType::processes, {on("actor", "kubernetes")}),
            "group actor has the engine kubernetes, and group learner has processes" + pods);
  EXPECT_EQ(refusal(LaunchType::kubernetes, {on("actor", "ssh")}),
            "group learner has the engine kubernetes, and group actor has ssh" + pods);
  EXPECT_EQ(refusal(LaunchType::processes, {on("logger", "ssh")}),
            "groups learner and logger share a process, but have different engines: processes and ssh");
}

}  // namespace
}  // namespace lp
