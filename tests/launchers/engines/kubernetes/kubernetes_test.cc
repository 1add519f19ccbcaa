// The input of Kubernetes for a launch, and the handling of its answers. kubectl is a script here, which answers like
// kubectl.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "launchers/engines/kubernetes/manifests.h"
#include "launchers/engines/kubernetes/pod_environment.h"
#include "lp/base/error.h"
#include "tests/launchers/main_fixture.h"
#include "tests/launchers/programs_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

// The output of `--render` for the run below, as a person would have written it.
std::string golden() { return contents(COUNTING_YAML); }

launch::KubernetesRun run_of(const std::string& name) {
  return {.name = name,
          .image = "registry/counting:1",
          .flags = {"--launch=kubernetes", "--mode=it's done"},
          .configuration = "workers: 1\n",
          .node_selector = {"disk=ssd"},
          .tolerations = {"gpu=yes:NoSchedule", "spot"}};
}

Plan plan_of(int workers) {
  Config config;
  config.workers = workers;
  return make_plan(make_counting(config));
}

TEST(ManifestsTest, AreThoseOfAPerson) {
  Plan plan = plan_of(1);
  plan.groups[1].options.cpus = 1.5;
  plan.groups[1].options.gpus = 2;
  plan.groups[1].options.memory = std::uint64_t{100} << 20;
  EXPECT_EQ(launch::manifests(run_of("counting-20260131-235959-7f3a"), plan, nullptr), golden());
}

TEST(ManifestsTest, KeepTextsThatYamlCouldTakeForSomethingElse) {
  launch::KubernetesRun run = run_of("counting");
  run.flags = {"yes", "1e3", "0440", "~", "a: b # c", "{", "\"quoted\"", "two\nlines", " ", ""};
  run.configuration = " begins with a space\n";
  const std::vector<YAML::Node> objects = YAML::LoadAll(launch::manifests(run, plan_of(1), nullptr));
  for (const YAML::Node& object : objects) {
    const std::string kind = object["kind"].as<std::string>();
    if (kind == "ConfigMap") {
      EXPECT_EQ(object["data"]["config.yaml"].as<std::string>(), run.configuration);
    }
    if (kind != "Pod") continue;
    const YAML::Node arguments = object["spec"]["containers"][0]["args"];
    for (std::size_t i = 0; i < run.flags.size(); ++i) {
      EXPECT_EQ(arguments[i].as<std::string>(), run.flags[i]);
      EXPECT_EQ(arguments[i].Tag(), "!") << run.flags[i];  // it is in quotes
    }
  }
  EXPECT_EQ(objects.size(), 7U);
}

TEST(ManifestsTest, GiveEachPodItsOwnKeysAndNoOther) {
  const launch::RunKeys keys = launch::make_run_keys(2);
  const std::string text = launch::manifests(run_of("counting"), plan_of(1), &keys);
  for (const launch::AcceptorKeys& agent : keys.agents) {
    EXPECT_TRUE(has(text, agent.own.secret_key));
    EXPECT_EQ(agent.others, std::vector{keys.coordinator.own.public_key});
  }
  EXPECT_EQ(keys.coordinator.others, (std::vector{keys.agents[0].own.public_key, keys.agents[1].own.public_key}));
  EXPECT_TRUE(has(text, R"(items: [{key: "worker-0", path: keys}])"));
}

TEST(ManifestsTest, NamesFitWhatKubernetesTakes) {
  EXPECT_EQ(launch::object_name("digits-20260131-235959-7f3a"), "digits-20260131-235959-7f3a");
  EXPECT_EQ(launch::object_name("My_Program-7f3a"), "my-program-7f3a");
  const std::string cut = launch::object_name(std::string(50, 'x') + "-20260131-235959-7f3a");
  EXPECT_TRUE(cut.ends_with("-7f3a"));
  EXPECT_LE(cut.size() + 1 + 25, 63u);
  EXPECT_EQ(launch::object_name("9lives"), "r9lives");

  Program program("names");
  for (const std::string name : {"A_b", "a-b", "coordinator"}) program.add<Counter>({.name = name});
  EXPECT_EQ(launch::pod_names(make_plan(program, {.serve_forever = true})),
            (std::vector<std::string>{"a-b", "a-b-p1", "coordinator-p2"}));
}

TEST(ManifestsTest, WhatCannotBeIsSaid) {
  const auto error_of = [](launch::KubernetesRun run) {
    try {
      launch::manifests(run, plan_of(1), nullptr);
    } catch (const Error& error) {
      return std::string(error.text());
    }
    return std::string();
  };
  launch::KubernetesRun run = run_of("counting");
  run.node_selector = {"ssd"};
  EXPECT_TRUE(has(error_of(run), "expected LABEL=VALUE")) << error_of(run);
  run = run_of("counting");
  run.tolerations = {"=x"};
  EXPECT_TRUE(has(error_of(run), "expected KEY")) << error_of(run);
  run.image.clear();
  EXPECT_TRUE(has(error_of(run), "needs --image")) << error_of(run);
}

class KubectlTest : public MainTest {
 protected:
  // A kubectl that records its arguments, and runs `lines` for each of its commands.
  std::vector<std::string> with_kubectl(const std::string& lines, std::vector<std::string> flags) {
    const std::string script = (directory_ / "kubectl").string();
    std::ofstream(script) << "#!/bin/sh\necho \"$*\" >>" << (directory_ / "asked").string() << "\ncase $1 in\n"
                          << lines << "\n*) ;;\nesac\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    flags.insert(flags.begin(), {"program", "--launch=kubernetes", "--image=counting:1", "--kubectl=" + script});
    return flags;
  }
  std::string asked() const { return contents(directory_ / "asked"); }
};

TEST_F(KubectlTest, ARunIsCreatedFollowedAndRemoved) {
  Subprocess program(with_kubectl("create) cp $3 " + (directory_ / "created").string() + ";;\n" +
                                      "get) printf "
                                      "'coordinator\\tSucceeded\\t\\t\\tCompleted\\t0\\t\\t\\nworker-"
                                      "0\\tRunning\\t\\t\\t\\t\\tOOMKilled\\t\\n';;\n" +
                                      "logs) echo a line; echo '{\"total\":5}';;",
                                  {"--json"}));
  EXPECT_EQ(program.wait().code, 0) << program.err();
  EXPECT_EQ(program.out(), "{\"total\":5}\n");
  EXPECT_TRUE(has(program.err(), "a line\n")) << program.err();
  EXPECT_TRUE(has(program.err(), "pod worker-0 was killed because it used more memory than its limit (OOMKilled)"))
      << program.err();
  EXPECT_TRUE(has(asked(), "\ndelete job,pod,service,secret,configmap,serviceaccount --ignore-not-found")) << asked();
  const std::string manifests = contents(directory_ / "created");
  EXPECT_TRUE(has(manifests, "- \"--json\"\n")) << manifests;
  EXPECT_FALSE(has(manifests, "kubectl")) << manifests;
  const std::string key = manifests.substr(manifests.find("worker-0\": |") + 17, 40);
  EXPECT_FALSE(has(program.err() + program.out() + asked(), key));
}

TEST_F(KubectlTest, TheProgramsOwnExitCodeIsThatOfTheLaunch) {
  Subprocess program(
      with_kubectl("get) printf 'coordinator\\tFailed\\t\\t\\tError\\t7\\t\\t\\n';;\nlogs) echo why;;", {}));
  EXPECT_EQ(program.wait().code, 7) << program.err();
  EXPECT_EQ(program.out(), "why\n");
}

TEST_F(KubectlTest, AnImageThatCannotBePulledIsSaidAndNothingIsLeft) {
  Subprocess program(
      with_kubectl("get) printf 'coordinator\\tPending\\tImagePullBackOff\\tno such image\\t\\t\\t\\t\\n';;", {}));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(
      has(program.err(), "cannot start in Kubernetes: the coordinator's pod waits: ImagePullBackOff: no such image"))
      << program.err();
  EXPECT_TRUE(has(asked(), "\ndelete ")) << asked();
}

TEST_F(KubectlTest, LinesThatBreakOffGoOnWhereTheyBrokeOff) {
  const std::string again = (directory_ / "again").string(), over = (directory_ / "over").string();
  Subprocess program(with_kubectl("get) if [ -e " + over +
                                      " ]; then printf 'coordinator\\tSucceeded\\t\\t\\tCompleted\\t0\\n';"
                                      " else printf 'coordinator\\tRunning\\n'; fi;;\n"
                                      "logs) if [ -e " +
                                      again + " ]; then echo a line; touch " + over + "; else touch " + again +
                                      "; printf 'a li'; fi;;",
                                  {}));
  EXPECT_EQ(program.wait().code, 0) << program.err();
  EXPECT_EQ(program.out(), "a line\n");
}

TEST_F(KubectlTest, WhatAKubeletHoldsThatCannotBeReachedIsRemovedByForce) {
  Subprocess program(
      with_kubectl("get) printf 'coordinator\\tSucceeded\\t\\t\\tCompleted\\t0\\t\\t\\t15\\t\\t\\n';;\n"
                   "delete) case $* in *--force*) ;; *) echo timed out; exit 1;; esac;;",
                   {}));
  EXPECT_EQ(program.wait().code, 0) << program.err();
  const std::string selected = " --ignore-not-found --selector=lp/run=";
  EXPECT_TRUE(has(asked(), selected)) << asked();
  EXPECT_TRUE(has(asked(), " --timeout=25s\n")) << asked();  // the time of that pod and of its kubelet
  EXPECT_TRUE(has(asked(), " --force --grace-period=0\n")) << asked();
  EXPECT_FALSE(has(program.err(), "remove them")) << program.err();
}

TEST_F(KubectlTest, WhatTheClusterRefusesIsSaid) {
  Subprocess program(with_kubectl("create) echo forbidden >&2; exit 1;;", {}));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), "kubectl: forbidden")) << program.err();
}

}  // namespace
}  // namespace lp::test
