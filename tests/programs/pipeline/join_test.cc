// Flows that are joined by key.

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::Identity;
using test::PipelineFiles;
using test::run_pipeline;
using test::write_lines;

using Lines = std::multiset<std::string>;

TEST(PipelineJoinTest, JoinsTwoFlowsByKey) {
  const PipelineFiles files;
  files.write("names", "1 one\n2 two\n3 three\n2 zwei\n");
  Pipeline pipeline;
  const auto names = pipeline.read({.paths = {files.input().string()}}).map([](std::string_view line) {
    return std::pair<std::uint64_t, std::string_view>(line[0] - '0', line.substr(2));
  });
  const auto numbers = pipeline.generate([](std::uint64_t number) { return number % 4; }, {.count = 8});
  write_lines(numbers.key_by(Identity())
                  .join(names.key_by([](const auto& one) { return one.first; }),
                        [](std::uint64_t number, const auto& name) {
                          return std::to_string(number) + std::string(name.second);
                        }),
              files.output());
  ASSERT_EQ(run_pipeline(pipeline, {}), "");
  EXPECT_EQ(files.lines(), (Lines{"1one", "1one", "2two", "2two", "2zwei", "2zwei", "3three", "3three"}));
}

// A restart, which would fail likewise, costs an hour.
TEST(PipelineJoinTest, AKeyWhoseRecordsNeedTooMuchMemoryEndsAJoinWithASentence) {
  const auto all = [](std::uint64_t) { return std::string("all"); };
  const auto numbers = [](const Pipeline& pipeline, std::uint64_t count) {
    return pipeline.generate(Identity(), {.count = count});
  };
  const auto add = [](std::uint64_t left, std::uint64_t right) { return left + right; };
  const auto few = [&](const Pipeline& pipeline) { return numbers(pipeline, 1).key_by(all, {.name = "joined"}); };
  const auto many = [&](const Pipeline& pipeline) {
    return numbers(pipeline, 100'000).key_by(all, {.name = "joined"});
  };
  const std::vector<std::function<Flow<std::uint64_t>(const Pipeline&)>> flows = {
      [&](const Pipeline& pipeline) { return many(pipeline).join(few(pipeline), add); },
      [&](const Pipeline& pipeline) { return few(pipeline).join(many(pipeline), add); },
      [&](const Pipeline& pipeline) { return many(pipeline).cache().join(few(pipeline), add); },
      [&](const Pipeline& pipeline) { return few(pipeline).cache().join(many(pipeline), add); },
      [&](const Pipeline& pipeline) {
        return many(pipeline).cache().group<std::uint64_t>(
            [](const std::string&, const std::vector<std::uint64_t>& one, auto& out) { out(one.size()); },
            {.name = "grouped"});
      }};
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const PipelineFiles files;
    Pipeline pipeline;
    flows[i](pipeline).write(files.output(), [](std::uint64_t sum, Output& out) { out.line(sum); });
    const std::string failure = run_pipeline(pipeline, {.scratch = files.path() / "scratch",
                                                        .memory = 1 << 20,
                                                        .restarts = 3,
                                                        .restart_after = std::chrono::hours(1)});
    const std::string stage = i == 4 ? "grouped" : "joined";
    EXPECT_NE(failure.find("the records of the key \"all\" of the stage " + stage), std::string::npos) << failure;
    EXPECT_NE(failure.find(" need more than PipelineOptions::memory, which is 1M: raise it, or make several keys"),
              std::string::npos)
        << failure;
  }
}

}  // namespace
}  // namespace lp
