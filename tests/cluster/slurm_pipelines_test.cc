// The iterative pipelines of examples/ in a job of a real Slurm with eight nodes, beside a serial run.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "lp/base/json_value.h"
#include "lp/base/random.h"
#include "tests/job_files.h"
#include "tests/launchers/engines/slurm/slurm_cluster.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

constexpr int kHosts = 8;

class SlurmPipelinesLong : public testing::Test {
 protected:
  // The lines that the program writes, sorted; it runs with these flags.
  std::multiset<std::string> lines(const std::string& program, const std::string& flags, const std::string& into) {
    const std::string at = (files_.path() / into).string();
    const Ended ended = command("timeout -k 5 300 " + program + " --json --directory=" + at + ".run --pipeline.input=" +
                                files_.input().string() + " --pipeline.into=" + at + " " + flags);
    EXPECT_EQ(ended.code, 0) << ended.output;
    std::multiset<std::string> out;
    for (const auto& part : std::filesystem::directory_iterator(at)) {
      std::ifstream in(part.path());
      for (std::string line; std::getline(in, line);) out.insert(line);
    }
    return out;
  }

  void is_like_a_serial_run(const std::string& program, const std::string& flags) {
    const auto serial = lines(program, flags + " --launch=threads --pipeline.replicas=1", "serial");
    EXPECT_FALSE(serial.empty());
    const std::string slurm = " --launch=slurm '--slurm=--nodes=8,--time=5' --pipeline.replicas=8 --pipeline.scratch=" +
                              (files_.path() / "scratch").string();
    EXPECT_EQ(serial, lines(program, flags + slurm, "slurm"));
    std::set<std::string> hosts;
    const JsonValue status = JsonValue::parse(contents(files_.path() / "slurm.run" / "status.json"));
    for (const JsonValue& node : status.find("nodes")->items()) hosts.insert(node.find("host")->text());
    EXPECT_EQ(hosts.size(), static_cast<std::size_t>(kHosts));
  }

  JobFiles files_{};
  SlurmCluster cluster_{kHosts};
};

TEST_F(SlurmPipelinesLong, PagerankHasTheBitsOfASerialRun) {
  Random random(1, "links");
  std::string links;
  for (int i = 0; i < 20'000; ++i) {
    links += std::to_string(random.below(2000)) + " " + std::to_string(random.below(1 + random.below(2000))) + "\n";
  }
  files_.write("links", links);
  is_like_a_serial_run(PAGERANK, "--rounds=5");
}

TEST_F(SlurmPipelinesLong, KmeansHasTheBitsOfASerialRun) {
  Random random(2, "points");
  std::string points;
  for (int i = 0; i < 20'000; ++i) {
    points +=
        std::to_string(i) + " " + std::to_string(random.uniform()) + " " + std::to_string(random.uniform()) + "\n";
  }
  files_.write("points", points);
  is_like_a_serial_run(KMEANS, "--clusters=5 --rounds=5");
}

}  // namespace
}  // namespace lp::test
