#include "lp/config/group_placement.h"

#include <gtest/gtest.h>

#include "tests/lp/config/config_for_test.h"

namespace lp::test {
namespace {

using Action = GroupPlacement::OnFailure::Action;

std::vector<GroupPlacement> read(const std::string& text) {
  const YamlNode root = parse_yaml(text, "f.yaml");
  return read_placements(*root.find("groups"), "f.yaml");
}

std::string read_failure(const std::string& text) {
  return failure([&] { read(text); });
}

TEST(Placement, EveryKeyIsRead) {
  const auto groups = read(
      "groups:\n"
      "  worker:\n"
      "    launcher: slurm\n"
      "    hosts: [a, b]\n"
      "    cpus: 0.5\n"
      "    gpus: 1\n"
      "    memory: 512M\n"
      "    environment: {OMP_NUM_THREADS: 2, NAME: 'a b'}\n"
      "    directory: /data\n"
      "    on-failure: ignore\n"
      "    heartbeat: 2.5\n"
      "  server: {}\n");
  ASSERT_EQ(groups.size(), 2U);
  const GroupPlacement& worker = groups[0];
  EXPECT_EQ(worker.group, "worker");
  EXPECT_EQ(worker.location(), "f.yaml:2");
  EXPECT_EQ(worker.launcher, "slurm");
  EXPECT_EQ(worker.hosts, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(worker.cpus, 0.5);
  EXPECT_EQ(worker.gpus, 1);
  EXPECT_EQ(worker.memory, std::uint64_t{512} << 20);
  EXPECT_EQ(worker.environment, (std::map<std::string, std::string>{{"NAME", "a b"}, {"OMP_NUM_THREADS", "2"}}));
  EXPECT_EQ(worker.directory, "/data");
  ASSERT_TRUE(worker.on_failure.has_value());
  EXPECT_EQ(worker.on_failure->action, Action::ignore);
  EXPECT_EQ(worker.heartbeat, 2.5);
  EXPECT_EQ(groups[1].group, "server");
  EXPECT_FALSE(groups[1].memory.has_value() || groups[1].on_failure.has_value() || groups[1].cpus.has_value());
}

TEST(Placement, FailurePolicies) {
  const auto policy = [](const std::string& text) {
    return *read("groups: {g: {on_failure: " + text + "}}")[0].on_failure;
  };
  EXPECT_EQ(policy("stop").action, Action::stop);
  EXPECT_EQ(policy("{restart: 3}").action, Action::restart);
  EXPECT_EQ(policy("{restart: 3}").budget, 3);
  EXPECT_FALSE(policy("{restart: 3}").backoff.has_value());
  EXPECT_EQ(policy("{restart: {budget: 2, backoff: 0.5}}").budget, 2);
  EXPECT_EQ(policy("{restart: {budget: 2, backoff: 0.5}}").backoff, 0.5);
  EXPECT_EQ(read("groups:\n  g:\n    on_failure:\n      restart: 7\n")[0].on_failure->budget, 7);
}

TEST(Placement, MemoryHasSuffixes) {
  const auto memory = [](const std::string& text) { return *read("groups: {g: {memory: " + text + "}}")[0].memory; };
  EXPECT_EQ(memory("1000"), 1000U);
  EXPECT_EQ(memory("3K"), 3072U);
  EXPECT_EQ(memory("2G"), std::uint64_t{2} << 30);
  EXPECT_EQ(memory("1T"), std::uint64_t{1} << 40);
  for (const char* text : {"x", "-1", "2g", "2GB", "''", "99999999999T", "99999999999999999999", "1.5G", "[]"}) {
    EXPECT_NE(
        read_failure(std::string("groups: {g: {memory: ") + text + "}}").find("f.yaml:1:22: memory: expected bytes"),
        std::string::npos)
        << text;
  }
}

TEST(Placement, MistakesNameTheirPlace) {
  EXPECT_EQ(read_failure("groups:\n  g:\n    cpu: 3\n"), "f.yaml:3:5: unknown key \"cpu\"; did you mean cpus?");
  EXPECT_EQ(read_failure("groups:\n  g:\n    memry: 3\n"), "f.yaml:3:5: unknown key \"memry\"; did you mean memory?");
  EXPECT_EQ(read_failure("groups:\n  g: 3\n"), "f.yaml:2:6: the group g: expected a map, got \"3\"");
  EXPECT_EQ(read_failure("groups: [g]\n"),
            "f.yaml:1:9: groups: expected the name of a group and a map of its settings, got a list");
  EXPECT_EQ(read_failure("groups: {g: {cpus: -1}}"), "f.yaml:1:20: cpus: expected a number at least 0, got \"-1\"");
  EXPECT_EQ(read_failure("groups: {g: {heartbeat: .nan}}"),
            "f.yaml:1:25: heartbeat: expected a number at least 0, or inf, got \".nan\"");
  EXPECT_EQ(read_failure("groups: {g: {gpus: }}"),
            "f.yaml:1:20: gpus: it has no value: give one, or leave the line out for that of the program");
  EXPECT_EQ(read_failure("groups: {g: {on_failure: {restart: {budget: 1, backoff: null}}}}"),
            "f.yaml:1:57: backoff: it has no value: give one, or leave the line out for that of the program");
  EXPECT_EQ(read_failure("groups: {g: {environment: [a]}}"),
            "f.yaml:1:27: environment: expected NAME: value lines, got a list");
  EXPECT_EQ(read_failure("groups: {g: {environment: {a: [b]}}}"),
            "f.yaml:1:31: environment: a: expected a string, got a list");
  EXPECT_EQ(read_failure("groups: {g: {environment: {\"a\\0\": b}}}"),
            "f.yaml:1:28: environment: a name is empty or has '=' or a zero byte in it");
  EXPECT_EQ(read_failure("groups: {g: {on_failure: restart}}"),
            "f.yaml:1:26: on_failure: expected stop, ignore, {restart: 3} or {restart: {budget: 3, backoff: 0.5}}, got "
            "\"restart\"");
  EXPECT_EQ(read_failure("groups: {g: {on_failure: {restart: 0}}}"),
            "f.yaml:1:36: budget: expected an integer from 1 to 2147483647, got \"0\"");
  EXPECT_EQ(read_failure("groups: {g: {on_failure: {restart: {backoff: 1}}}}"),
            "f.yaml:1:36: on_failure: restart: `budget` is missing");
  EXPECT_EQ(read_failure("groups:\n  g: {}\n  g: {}\n"), "f.yaml:3:3: the key \"g\" is given twice");
}

}  // namespace
}  // namespace lp::test
