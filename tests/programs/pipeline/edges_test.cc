// Counts of the records between the stages of a pipeline, and the key that has many of them.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "tests/launchers/tools_for_test.h"
#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::Identity;
using test::PipelineFiles;
using test::result_of;

constexpr std::uint64_t kCount = 20'000;

// Every second record has the key 7; no other key comes twice.
std::uint64_t half_of_them(std::uint64_t number) { return number % 2 == 0 ? 7 : number; }

Flow<std::uint64_t> numbers(const Pipeline& pipeline) {
  return pipeline.generate(Identity(), {.count = kCount}, {.name = "numbers"});
}

template <class T>
void discard(const Flow<T>& flow, const PipelineFiles& files) {
  flow.map([](const T&) { return 0; }).write(files.output(), [](int, Output&) {});
}

std::string text_of(const PipelineResult& result) {
  std::string out;
  for (const PipelineEdge& one : result.edges) {
    out += one.from + "-" + one.to + " " + std::to_string(one.records) + " " + std::to_string(one.bytes) + "\n";
  }
  return out;
}

TEST(EdgesTest, RecordsAndBytesAreCounted) {
  const PipelineFiles files;
  Pipeline pipeline;
  discard(numbers(pipeline)
              .rebalance({.name = "middle"})
              .key_by([](std::uint64_t number) { return number % 10; }, {.name = "tens"})
              .with_state<int, std::uint64_t>([](std::uint64_t, int& count, std::uint64_t number, auto& out) {
                if (++count <= 5) out(number);
              })
              .sort(Identity(), {.name = "sort"}),
          files);
  const std::string text = text_of(result_of(pipeline, {}));
  // Records that go through sorted runs, and the names of these, count at that edge.
  EXPECT_EQ(text.substr(0, text.rfind(' ')),
            "numbers-middle 20000 160000\n"
            "middle-tens 20000 160000\n"
            "tens-sort 50");
}

// All nodes go back to the last checkpoint while the result is read.
TEST(EdgesTest, ARestartAtTheVeryEndLosesNoCounts) {
  const PipelineFiles files;
  Pipeline pipeline;
  discard(numbers(pipeline)
              .map([](std::uint64_t number) { return number == 13 ? throw Error(ErrorKind::failed, "no") : number; })
              .rebalance({.name = "middle"}),
          files);
  Program program("test");
  const auto master =
      add_pipeline(program, pipeline, {.skip_records = 1, .restart_after = std::chrono::milliseconds(1)});
  const std::filesystem::path directory = files.path() / "run";
  std::vector<PipelineResult> results;
  lp::Run run(std::move(program), {.directory = directory, .report = [&](lp::Run& ended) {
                                     if (results.empty()) test::restart_node(directory, "pipeline");
                                     results.push_back(ended.client(master).call<&PipelineMaster::result>());
                                   }});
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
  ASSERT_EQ(results.size(), 2U) << "the first report is not about the new nodes";
  for (const PipelineResult& one : results) {
    EXPECT_EQ(text_of(one), "numbers-middle 19999 159992\n");
    EXPECT_EQ(one.skipped, 1U);
    EXPECT_GE(one.checkpoints, 1U);
  }
}

TEST(EdgesTest, AKeyWithHalfOfAllRecordsIsReported) {
  const PipelineFiles files;
  Pipeline pipeline;
  discard(numbers(pipeline)
              .key_by(half_of_them, {.name = "group"})
              .group<int>([](std::uint64_t, Records<std::uint64_t>&, auto&) {}),
          files);
  const std::string skew = result_of(pipeline, {.replicas = 3}).skew;
  EXPECT_EQ(skew.substr(0, skew.find(',')), "the key 7 has about 50% of the 20000 records from numbers to group");
}

TEST(EdgesTest, KeysThatAreLikeOneAnotherAreNotReported) {
  const PipelineFiles files;
  Pipeline pipeline;
  discard(numbers(pipeline)
              .key_by([](std::uint64_t number) { return number % 3; })
              .group<int>([](std::uint64_t, Records<std::uint64_t>&, auto&) {}),
          files);
  EXPECT_EQ(result_of(pipeline, {}).skew, "");
}

// The records of a key with half of them meet before they are divided by key, so no replica gets them all.
TEST(EdgesTest, SumsAreMadeBeforeTheRecordsAreDividedByKey) {
  const auto sent = [](const auto& make) {
    const PipelineFiles files;
    Pipeline pipeline;
    discard(make(numbers(pipeline)), files);
    const PipelineResult result = result_of(pipeline, {});
    EXPECT_EQ(result.skew, "");
    return result.edges.at(0).records;
  };
  const auto key_of = [](std::uint64_t number) { return number % 100 < 50 ? 0 : number % 100; };
  const auto time_of = [](std::uint64_t number) { return static_cast<EventTime>(number); };
  EXPECT_EQ(sent([&](const Flow<std::uint64_t>& flow) { return flow.key_by(key_of).count(); }), 2 * 26U);
  EXPECT_EQ(sent([&](const Flow<std::uint64_t>& flow) {
              return flow.key_by(key_of).reduce([](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
            }),
            2 * 26U);
  EXPECT_EQ(sent([&](const Flow<std::uint64_t>& flow) {
              return flow.event_time(time_of)
                  .key_by(key_of)
                  .window(Windows::tumbling(std::chrono::milliseconds(5000)), time_of, {.combine = true})
                  .count();
            }),
            2 * 4 * 26U);
}

}  // namespace
}  // namespace lp
