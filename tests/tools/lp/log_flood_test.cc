// A node that prints as fast as its output is taken, and the readers of its log.

#include <fstream>
#include <string>

#include "lp/base/json_value.h"
#include "tests/tools/lp/lp_fixture.h"
#include "tools/lp/runs.h"

namespace lp::test {
namespace {

constexpr auto kFloodPatience = std::chrono::seconds(300);
constexpr std::uint64_t kLines = 10'000'000;
constexpr long kMostMemory = 64L << 10;                        // KiB, of a process
constexpr std::uintmax_t kMostLog = std::uintmax_t{26} << 20;  // bytes: three parts of 8 MiB

// The word behind `name` in a file of the process; empty: there is none.
std::string word_of(int process, const char* file, const std::string& name) {
  std::ifstream words("/proc/" + std::to_string(process) + "/" + file);
  for (std::string word; words >> word;) {
    if (word == name && words >> word) return word;
  }
  return {};
}

long peak_memory(int process) { return std::stol(word_of(process, "status", "VmHWM:")); }

class LogFloodLong : public LpTest {
 protected:
  // Waits until the worker has printed so many lines. Returns the number of its process.
  static int wait_for_lines(std::uint64_t lines) {
    for (const Time end = after(kFloodPatience); now() < end;) {
      const Ended status = lp("status last --json 2>/dev/null");
      if (status.code != 0) continue;
      const JsonValue all = JsonValue::parse(status.output);
      for (const JsonValue& node : all.find("status")->find("nodes")->items()) {
        const NodeStatus worker = from_json<NodeStatus>(node);
        if (worker.name == "worker" && worker.step >= lines) return worker.pid;
      }
    }
    ADD_FAILURE() << "the worker does not print";
    return 0;
  }
};

TEST_F(LogFloodLong, TakesNeitherMemoryNorSpaceAndHoldsNoReader) {
  Subprocess program({"--situation=printing", "--launch=processes", "--output=none"}, SITUATIONS);
  wait_for_lines(1);
  const Directory here;
  const std::string file = (here.path() / "followed").string();
  Subprocess follower({"-c", "exec '" LP_COMMAND "' logs last worker -f > '" + file + "'"}, "/bin/sh");
  Subprocess stuck({"logs", "last", "-f"}, LP_COMMAND);  // nobody reads what it writes
  EXPECT_EQ(lp("logs last worker --lines=1 | wc -l").output, "1\n");
  const Ended search = lp("logs last --grep='(st|p)*ep.*(no|such)*word'");
  EXPECT_EQ(search.code, 0);
  EXPECT_EQ(search.output, "");
  const int worker = wait_for_lines(kLines);
  const int agent = std::stoi(word_of(worker, "status", "PPid:"));
  for (const int process : {program.pid(), agent, follower.pid(), stuck.pid()}) {
    EXPECT_LT(peak_memory(process), kMostMemory) << word_of(process, "status", "Name:");
  }
  std::uintmax_t bytes = 0;
  for (const auto& one : std::filesystem::directory_iterator(tool::find_run("last").directory / "logs")) {
    bytes += one.file_size();
  }
  EXPECT_LT(bytes, kMostLog);
  EXPECT_EQ(lp("stop last").code, 0);
  EXPECT_EQ(program.wait().code, RunResult::kStopped);
  EXPECT_EQ(follower.wait().code, 0);
  // Its lines follow each other, except where a note stands for those that were dropped.
  std::ifstream followed(file);
  std::uint64_t last = 0;
  std::uint64_t breaks = 0;
  std::uint64_t notes = 0;
  for (std::string line; std::getline(followed, line);) {
    if (line.find(" were dropped; ") != std::string::npos) {
      ++notes;
    } else if (line.starts_with("step ") && line.ends_with(" loss 0.25")) {
      const std::uint64_t step = std::stoull(line.substr(5));
      if (step != last + 1) ++breaks;
      last = step;
    }
  }
  EXPECT_GE(last, kLines);
  EXPECT_LE(breaks, notes);
}

}  // namespace
}  // namespace lp::test
