// Typical mistakes of a user end soon, with a message and an exit code.

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "launchers/test_run.h"
#include "lp/base/error.h"
#include "lp/checkpoint/cut.h"
#include "tests/faults/programs_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

using std::chrono::seconds;

// Checks that the program ends with `code` and prints `sentence`.
void expect_sentence(const Ended& ended, int code, const std::string& sentence) {
  EXPECT_EQ(ended.code, code) << ended.output;
  EXPECT_NE(ended.output.find(sentence), std::string::npos) << ended.output;
}

class BadInput : public testing::Test {
 protected:
  std::string flags(const std::string& rest) const {
    return "--launch=processes --directory='" + (directory_.path() / "run").string() + "' " + rest;
  }
  const Directory directory_;
};

TEST_F(BadInput, AConstructorThatThrows) {
  expect_sentence(program(flags("--mode='constructor throws'")), 1, "std::invalid_argument: no such model");
}

TEST_F(BadInput, ANodeThatExitsBeforeItRegisters) {
  expect_sentence(program(flags("--mode='exits early'")), 1, "service/0: exited with code 3 before it was ready");
}

TEST_F(BadInput, ANodeThatIsKilledWhileItIsConstructed) {
  expect_sentence(program(flags("--mode='killed early'")), 1,
                  "service/0: was killed by signal 9 (SIGKILL) before it was ready");
}

TEST_F(BadInput, AChildThatAPersonStarts) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  expect_sentence(command("timeout 20 '" + self + "' --lp-node=service/0"), 2, "launcher");
  expect_sentence(command("timeout 20 '" + self + "' --lp-node=service/0 3</dev/null"), 2, "launcher");
  expect_sentence(command("timeout 20 '" + self + "' --lp-agent"), 2, "launcher");
}

TEST_F(BadInput, AnImpureProgram) {
  expect_sentence(program("--program=bad --mode=impure --dry-run"), 2, "two different graphs from one configuration");
  expect_sentence(program(flags("--program=bad --mode='impure in children'")), 1,
                  "depends on more than its configuration");
}

TEST_F(BadInput, ADirectoryThatCannotBeWritten) {
  expect_sentence(program("--launch=processes --directory=/proc/nowhere"), 2, "choose another one with --directory");
  expect_sentence(program("--launch=threads --directory=/proc/nowhere"), 2, "choose another one with --directory");
}

TEST_F(BadInput, AGraphThatCannotRun) {
  expect_sentence(program(flags("--program=bad --mode=dangling")), 2, "'nobody'");
  expect_sentence(program(flags("--program=bad --mode='empty group'")), 2, "has 0 replicas");
  expect_sentence(program(flags("--program=bad --mode='two of a name'")), 2, "'service'");
  expect_sentence(program(flags("--program=bad --mode=nothing")), 2, "the program has no node");
  expect_sentence(program(flags("--nodes=0")), 2, "has 0 replicas");
  expect_sentence(program(flags("--nodes=-1")), 2, "has -1 replicas");
}

TEST_F(BadInput, AFlagTypedWrong) {
  expect_sentence(program("--nodse=3"), 2, "--nodes");
  expect_sentence(program("--nodes=three"), 2, "three");
  expect_sentence(program("--launch=proceses"), 2, "processes");
  expect_sentence(program("--program=servces"), 2, "servces");
  expect_sentence(program("--resume=/nowhere"), 2, "/nowhere");
}

TEST_F(BadInput, AGroupThatTheProgramDoesNotHave) {
  const std::filesystem::path file = directory_.path() / "config.yaml";
  std::ofstream(file) << "nodes: 2\ngroups:\n  servise:\n    cpus: 1\n";
  expect_sentence(program(flags("--config='" + file.string() + "'")), 2, "servise");
}

TEST_F(BadInput, AnArrayOfNothing) {
  const Config config{.nodes = 1};
  TestRun run(make_services(config), processes(config, "services"));
  const auto service = run.client(Handle<Service>("service/0"));
  EXPECT_EQ(service.call<&Service::echo>(Array<std::uint8_t>()).size(), 0u);
  EXPECT_EQ(service.call<&Service::size>(Array<std::uint8_t>(4096)), 4096u);
}

// Cuts, intact and damaged.

class Cuts : public BadInput {
 protected:
  std::filesystem::path run() const { return directory_.path() / "run"; }
  void take_cuts() const { expect_sentence(program(flags("--program=saving")), 0, ""); }
  Ended resume() const {
    return program("--program=saving --launch=processes --directory='" + (directory_.path() / "next").string() +
                   "' --resume='" + run().string() + "'");
  }
};

TEST_F(Cuts, AHalfWrittenOneIsPassedOver) {
  take_cuts();
  const std::vector<Cut> cuts = list_cuts(run()).cuts;
  ASSERT_GE(cuts.size(), 2u);
  EXPECT_EQ(cuts.back().step, 6u);
  std::filesystem::resize_file(cut_file(cuts.back().directory, "saver"), 1000);
  EXPECT_EQ(latest_cut(run())->step, cuts[cuts.size() - 2].step);
  expect_sentence(resume(), 0, "");
}

TEST_F(Cuts, WithoutAWholeOneNothingIsResumed) {
  take_cuts();
  for (const Cut& cut : list_cuts(run()).cuts) std::filesystem::resize_file(cut_file(cut.directory, "saver"), 1000);
  expect_sentence(resume(), 2, "no complete checkpoint");
}

// A file system of its own, of `size` MiB; for root.
class SmallDisk {
 public:
  SmallDisk(const std::filesystem::path& at, int mebibytes) : at_(at) {
    std::filesystem::create_directories(at_);
    mounted_ = mount("lp-test", at_.c_str(), "tmpfs", 0, ("size=" + std::to_string(mebibytes) + "m").c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(at_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }

 private:
  const std::filesystem::path at_;
  bool mounted_ = false;
};

TEST_F(Cuts, AFullDiskLeavesTheCutsBeforeAndTheRunGoesOn) {
  const SmallDisk disk(run(), 4);
  if (!disk.mounted()) GTEST_SKIP() << "only root can mount a file system";
  const Ended ended = program(flags("--program=saving --mode='large saves' --output=none"));
  expect_sentence(ended, 1,
                  "saver could not save its part of the checkpoint of step 4, and the checkpoint before it is kept: ");
  EXPECT_NE(ended.output.find("No space left on device"), std::string::npos) << ended.output;
  const auto latest = latest_cut(run());
  ASSERT_TRUE(latest.has_value());
  EXPECT_EQ(latest->step, 3u);
  const std::string said = "could not save";
  EXPECT_EQ(ended.output.find(said, ended.output.find(said) + 1), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("the program failed: directory: the run could not keep its newest checkpoint"),
            std::string::npos)
      << ended.output;
  EXPECT_TRUE(list_cuts(run()).problems.empty()) << list_cuts(run()).problems.front();
}

TEST_F(Cuts, AFullDiskTakesNoLogsAndTheRunGoesOn) {
  const SmallDisk disk(run(), 1);
  if (!disk.mounted()) GTEST_SKIP() << "only root can mount a file system";
  const Ended ended = program(flags("--program=saving --mode=talks"));
  expect_sentence(ended, 1, "No space left on device");  // the result is lost, too
  EXPECT_EQ(std::count(ended.output.begin(), ended.output.end(), '\n') > 12'000, true) << "output is missing";
}

}  // namespace
}  // namespace lp::test
