// Whatever the path between two nodes, the same happens: a set of scenarios is played over each, and what their caller
// and their callee saw is compared event for event.

#include <gtest/gtest.h>

#include "launchers/test_run.h"
#include "tests/faults/transcript_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

enum class Way { direct, bytes, shm, tcp, curve };
const std::vector<std::pair<Way, const char*>> kWays{
    {Way::direct, "direct"}, {Way::bytes, "bytes"}, {Way::shm, "shm"}, {Way::tcp, "tcp"}, {Way::curve, "curve"}};

LaunchOptions options(Way way, const TranscriptConfig& config = {}) {
  if (way == Way::direct) return {};
  if (way == Way::bytes) return {.serialize = true};
  LaunchOptions options = processes(config, "transcript");
  options.path = way == Way::shm ? Path::shm : Path::tcp;
  options.curve = way == Way::curve;
  return options;
}

class Transcript : public testing::TestWithParam<const char*> {};

TEST_P(Transcript, IsTheSameOnEveryPath) {
  Lines expected;
  for (const auto& [way, name] : kWays) {
    TestRun run(make_transcript({}), options(way));
    const Lines lines = run.client(Handle<Driver>("driver")).call<&Driver::play>(GetParam());
    EXPECT_FALSE(lines.empty());
    if (way == Way::direct) {
      expected = lines;
      for (const std::string& line : lines) std::printf("%s\n", line.c_str());
    } else {
      EXPECT_EQ(lines, expected) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Transcript,
                         testing::Values("order", "values", "deadlines", "cancellation", "errors", "back-pressure",
                                         "streams", "duplicates", "batches", "groups", "barriers", "cycles", "restart"),
                         [](const auto& scenario) {
                           std::string name = scenario.param;
                           std::erase(name, '-');
                           return name;
                         });

// A stop reaches a call that waits, whatever it waits for.
TEST(TranscriptOfAStop, IsTheSameOnEveryPath) {
  std::string expected;
  for (const auto& [way, name] : kWays) {
    const Directory directory;
    const TranscriptConfig config{.log = directory.path() / "log"};
    TestRun run(make_transcript(config), options(way, config));
    auto waits = run.client(Handle<Driver>("driver")).async<&Driver::wait_for_ever>();
    while (run.client(Handle<Subject>("subject")).call<&Subject::notes>().empty()) {
    }
    run.stop("enough");
    EXPECT_THROW(waits.get(), Error) << name;
    EXPECT_TRUE(run.wait().success) << name << run.wait().cause.text();
    const std::string seen = contents(config.log);
    if (way == Way::direct) expected = seen;
    EXPECT_EQ(seen, expected) << name;
  }
  EXPECT_EQ(expected.substr(0, 7), "stopped") << expected;
}

}  // namespace
}  // namespace lp::test
