// One allocation, or a component of a heterogeneous job for each kind of host that the processes need.

#include "launchers/engines/slurm/job_resources.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/program/program.h"

namespace lp::test {
namespace {

using launch::SlurmComponent;

struct Actor {
  int act() { return 1; }
  using Remote = Methods<&Actor::act>;
};

Plan plan_of(const Program& program) { return make_plan(program, {.serve_forever = true}); }

// A learner with two GPUs, two actors, and a logger in the process of the first of them.
Program learning() {
  Program program("learning");
  program.add<Actor>({.name = "learner", .cpus = 2.5, .gpus = 2});
  const auto actors = program.group<Actor>({.name = "actor", .replicas = 2, .cpus = 1, .memory = 100 << 20});
  const auto logger = program.add<Actor>({.name = "logger", .cpus = 1});
  program.colocate(actors[0], logger);
  return program;
}

TEST(SlurmComponents, WhoNeedsGpusHasHostsOfItsOwn) {
  const Plan plan = plan_of(learning());
  const auto components = launch::slurm_components(plan, {});
  ASSERT_EQ(components.size(), 2u);
  using Texts = std::vector<std::string>;
  EXPECT_EQ(components[0].needs, (Texts{"--ntasks=1", "--cpus-per-task=3", "--gpus-per-task=2"}));
  EXPECT_EQ(components[1].needs, (Texts{"--ntasks=2", "--cpus-per-task=2", "--mem-per-cpu=50M"}));
  EXPECT_EQ(launch::component_of_processes(plan, components), (std::vector<std::size_t>{0, 1, 1}));
}

TEST(SlurmComponents, ProcessesOfOtherLaunchersAreInNone) {
  const Plan plan = plan_of(learning());
  const std::vector<LaunchType> launches{LaunchType::processes, LaunchType::slurm, LaunchType::slurm};
  const auto components = launch::slurm_components(plan, {}, launches);
  ASSERT_EQ(components.size(), 1u);
  EXPECT_EQ(components[0].processes, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(launch::component_of_processes(plan, components), (std::vector<std::size_t>{0, 0, 0}));
}

TEST(SlurmComponents, EqualOptionsShareOne) {
  const std::vector<GroupPlacement> placements{{.group = "learner", .slurm = {"--partition=a"}},
                                               {.group = "actor", .slurm = {"--partition=a"}}};
  Program program("equal");
  program.add<Actor>({.name = "learner"});
  program.add<Actor>({.name = "other"});
  program.add<Actor>({.name = "actor"});
  const auto components = launch::slurm_components(plan_of(program), placements);
  ASSERT_EQ(components.size(), 2u);
  EXPECT_EQ(components[0].options, std::vector<std::string>{"--partition=a"});
  EXPECT_EQ(components[0].processes, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(components[1].options, std::vector<std::string>{});
}

TEST(SlurmComponents, GroupsThatShareAProcessHaveTheSameOptions) {
  const std::vector<GroupPlacement> placements{
      {.group = "actor", .file = "lp.yaml", .line = 3, .slurm = {"--partition=a"}},
      {.group = "logger", .file = "lp.yaml", .line = 5, .slurm = {"--partition=b"}}};
  try {
    launch::slurm_components(plan_of(learning()), placements);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(),
              "lp.yaml:5: group logger: its `slurm` options differ from those of group actor, but the two groups share "
              "a process");
  }
}

TEST(SlurmComponents, WithoutKindsThereIsOne) {
  Program program("plain");
  program.group<Actor>({.name = "actor", .replicas = 3});
  EXPECT_EQ(launch::slurm_components(plan_of(program), {}).size(), 1u);
}

}  // namespace
}  // namespace lp::test
