// Records that are made once and read several times.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::Identity;
using test::PipelineFiles;
using test::result_of;
using test::run_pipeline;

using Lines = std::multiset<std::string>;

std::atomic<std::uint64_t> made_records = 0;

struct Item {
  std::uint64_t key = 0;
  std::string text{};
};

KeyedFlow<std::uint64_t, Item> items(const Pipeline& pipeline, std::uint64_t count, std::uint64_t keys) {
  made_records = 0;
  return pipeline
      .generate(
          [keys](std::uint64_t number) {
            ++made_records;
            return Item{.key = number % keys, .text = "text" + std::to_string(number)};
          },
          {.count = count}, {.name = "items"})
      .key_by([](const Item& item) { return item.key; }, {.name = "cache"});
}

KeyedFlow<std::uint64_t, std::uint64_t> wanted(const Pipeline& pipeline, std::uint64_t count, StageOptions stage) {
  return pipeline.generate([](std::uint64_t number) { return 2 * number; }, {.count = count}).key_by(Identity(), stage);
}

std::string pair_of(const Item& item, std::uint64_t number) { return std::to_string(number) + item.text; }

void write_texts(const Flow<std::string>& flow, const std::filesystem::path& into) {
  flow.write(into, [](const std::string& text, Output& out) { out.line(text); });
}

TEST(CacheTest, SeveralJoinsReadWhatWasMadeOnce) {
  constexpr std::uint64_t kCount = 30'000;
  const PipelineFiles files;
  Pipeline pipeline;
  const auto cached = items(pipeline, kCount, kCount / 3).cache();
  Lines expected;
  for (std::uint64_t number = 0; number < kCount; ++number) {
    if (number % (kCount / 3) % 2 == 0 && number % (kCount / 3) < 2000)
      expected.insert(std::to_string(number % (kCount / 3)) + "text" + std::to_string(number));
  }
  // One has as many replicas as the cache, one fewer and one more.
  for (int replicas = 1; replicas <= 3; ++replicas) {
    write_texts(cached.join(wanted(pipeline, 1000, {.replicas = replicas}), pair_of),
                files.path() / std::to_string(replicas));
  }
  ASSERT_EQ(run_pipeline(pipeline, {.replicas = 2, .memory = 1 << 20}), "");
  EXPECT_EQ(made_records, kCount);
  for (int replicas = 1; replicas <= 3; ++replicas) EXPECT_EQ(files.lines(std::to_string(replicas)), expected);
}

TEST(CacheTest, AKeyOfEitherFlowIsInACoGroup) {
  const PipelineFiles files;
  Pipeline pipeline;
  const auto cached = items(pipeline, 3, 3).cache();
  write_texts(
      cached.co_group<std::string>(
          wanted(pipeline, 3, {}),
          [](std::uint64_t key, const std::vector<Item>& found, const std::vector<std::uint64_t>& asked, auto& out) {
            out(std::to_string(key) + ":" + std::to_string(found.size()) + std::to_string(asked.size()));
          }),
      files.output());
  write_texts(cached.group<std::string>([](std::uint64_t key, const std::vector<Item>& found, auto& out) {
    out(std::to_string(key) + found.at(0).text);
  }),
              files.path() / "all");
  ASSERT_EQ(run_pipeline(pipeline, {}), "");
  EXPECT_EQ(files.lines(), (Lines{"0:11", "1:10", "2:11", "4:01"}));
  EXPECT_EQ(files.lines("all"), (Lines{"0text0", "1text1", "2text2"}));
}

// Records are sent to the cache, and from there only the names of runs.
TEST(CacheTest, TheBytesOfACacheAreSentOnce) {
  const auto bytes_to = [](const PipelineResult& result, const std::string& stage) {
    std::uint64_t bytes = 0;
    for (const PipelineEdge& one : result.edges) bytes += one.to == stage ? one.bytes : 0;
    return bytes;
  };
  const PipelineFiles files;
  Pipeline pipeline;
  const auto cached = items(pipeline, 10'000, 100).cache();
  for (const char* stage : {"one", "two"})
    write_texts(cached.join(wanted(pipeline, 1, {.name = stage}), pair_of), files.path() / stage);
  const PipelineResult result = result_of(pipeline, {});
  EXPECT_EQ(result.edges.at(0).to, "cache");
  EXPECT_EQ(result.edges[0].records, 10'000U);
  EXPECT_GT(bytes_to(result, "cache"), 190'000U);
  for (const PipelineEdge& one : result.edges) {
    if (one.from != "cache") continue;
    EXPECT_EQ(one.records, 10'000U) << "they are drawn, although they stay where they are";
  }
}

TEST(CacheTest, AFlowThatIsUsedTwiceIsMadeOnce) {
  const PipelineFiles files;
  Pipeline pipeline;
  const auto keyed = items(pipeline, 1000, 10);
  for (const char* into : {"one", "two"})
    keyed.count().write(files.path() / into, [](const auto& one, Output& out) { out.line(one.second); });
  ASSERT_EQ(run_pipeline(pipeline, {}), "");
  EXPECT_EQ(made_records, 1000U);
  EXPECT_EQ(files.lines("one"), files.lines("two"));
  EXPECT_EQ(files.lines("one").count("100"), 10U);
}

}  // namespace
}  // namespace lp
