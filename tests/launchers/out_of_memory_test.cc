// A process that the kernel ends, because its control group is out of memory, as in a pod.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/launchers/main_fixture.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

// A control group of either version with this limit. Owned by a test, whose processes it must outlive.
class Group {
 public:
  explicit Group(const std::string& limit) {
    const std::filesystem::path root = "/sys/fs/cgroup";
    const bool old = std::filesystem::exists(root / "memory/memory.limit_in_bytes");
    path_ = (old ? root / "memory" : root) / ("lp-test-" + std::to_string(getpid()));
    std::error_code error;
    std::filesystem::create_directory(path_, error);
    std::ofstream file(path_ / (old ? "memory.limit_in_bytes" : "memory.max"));
    file << limit << std::flush;
    limits_ = !error && file.good();
  }
  ~Group() { rmdir(path_.c_str()); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  bool limits() const { return limits_; }
  std::string enter() const { return "echo $$ >" + (path_ / "cgroup.procs").string(); }

 private:
  std::filesystem::path path_;
  bool limits_ = false;
};

class OutOfMemoryTest : public MainTest {};

TEST_F(OutOfMemoryTest, IsReportedAsTheCause) {
  const Group group("512M");  // more than all others take, also under a sanitizer
  if (!group.limits()) GTEST_SKIP() << "only root can make a control group";
  const Ended ended = program("--launch=processes --mode='takes memory' --directory=" + (directory_ / "run").string(),
                              "sh -c '" + group.enter() + "; exec \"$@\"' sh");
  EXPECT_EQ(ended.code, 1) << ended.output;
  EXPECT_TRUE(has(ended.output, "worker/1: was killed by the kernel because memory ran out (OOMKilled)"))
      << ended.output;
}

}  // namespace
}  // namespace lp::test
