// Pipelines over files: a batch is a stream that ends.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "lp/base/file.h"
#include "lp/base/hash.h"
#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::Identity;
using test::PipelineFiles;
using test::run_pipeline;
using test::write_lines;

using Lines = std::multiset<std::string>;

Flow<std::string_view> words_of(const Flow<std::string_view>& lines) {
  return lines.flat_map<std::string_view>([](std::string_view line, auto& out) {
    for (const std::string_view word : words(line)) out(word);
  });
}

Pipeline word_count(const PipelineFiles& files) {
  Pipeline pipeline;
  words_of(pipeline.read({.paths = {files.input().string()}}))
      .key_by([](std::string_view word) { return word; }, {.name = "count"})
      .count()
      .write(files.output(), [](const auto& one, Output& out) { out.line(one.first, '\t', one.second); });
  return pipeline;
}

TEST(PipelineTest, CountsWords) {
  const PipelineFiles files;
  files.write("one", "a b a\nc\n\nb a");
  files.write("two", "a d\n");
  ASSERT_EQ(run_pipeline(word_count(files), {}), "");
  EXPECT_EQ(files.lines(), (Lines{"a\t4", "b\t2", "c\t1", "d\t1"}));
  EXPECT_FALSE(std::filesystem::exists(files.output() / ".pending"));
}

TEST(PipelineTest, CountsMoreThanFitsIntoMemory) {
  const PipelineFiles files;
  std::string text;
  Lines expected;
  for (int i = 0; i < 100'000; ++i) {
    const std::string word = "word" + std::to_string(i * 7919 % 100'000);
    text += word + (i % 10 == 9 ? "\n" : " ");
    expected.insert(word + "\t2");
  }
  files.write("one", text);
  files.write("two", text);
  ASSERT_EQ(run_pipeline(word_count(files), {.replicas = 3, .memory = 1 << 20}), "");
  EXPECT_EQ(files.lines(), expected);
}

TEST(PipelineTest, MapsFiltersAndReduces) {
  const PipelineFiles files;
  Pipeline pipeline;
  write_lines(pipeline.generate(Identity(), {.count = 1000})
                  .filter([](std::uint64_t number) { return number % 2 == 0; })
                  .map([](std::uint64_t number) { return static_cast<std::int64_t>(number) - 500; })
                  .key_by([](std::int64_t number) { return number % 3; })
                  .reduce([](std::int64_t a, std::int64_t b) { return std::max(a, b); })
                  .map([](const auto& one) { return std::to_string(one.first) + " " + std::to_string(one.second); }),
              files.output());
  ASSERT_EQ(run_pipeline(pipeline, {.replicas = 3}), "");
  EXPECT_EQ(files.lines(), (Lines{"-1 -4", "-2 -2", "0 498", "1 496", "2 494"}));
}

struct Sale {
  std::string shop{};
  double value = 0;
};

TEST(PipelineTest, GroupsAllRecordsOfAKey) {
  const PipelineFiles files;
  Pipeline pipeline;
  write_lines(pipeline
                  .generate(
                      [](std::uint64_t number) {
                        return Sale{"shop" + std::to_string(number % 5), 0.5 * static_cast<double>(number)};
                      },
                      {.count = 20'000})
                  .key_by([](const Sale& sale) { return sale.shop; })
                  .group<std::string>([](const std::string& shop, Records<Sale>& sales, auto& out) {
                    int count = 0;
                    double sum = 0;
                    for (const Sale& one : sales) {
                      ++count;
                      sum += one.value;
                    }
                    out(shop + " " + std::to_string(count) + " " + std::to_string(static_cast<int>(sum)));
                  }),
              files.output());
  ASSERT_EQ(run_pipeline(pipeline, {.replicas = 2, .memory = 1 << 20}), "");
  Lines expected;
  for (int shop = 0; shop < 5; ++shop)
    expected.insert("shop" + std::to_string(shop) + " 4000 " + std::to_string((4000 * shop + 5 * 4000 * 3999 / 2) / 2));
  EXPECT_EQ(files.lines(), expected);
}

// What an aggregate or a sort makes comes at the end, and so do the watermarks behind it.
TEST(PipelineTest, ResultsAtTheEndOfAFlowAreNotLateForWindows) {
  const PipelineFiles files;
  Pipeline pipeline;
  const auto hours =
      pipeline.generate([](std::uint64_t number) { return static_cast<std::int64_t>(number); }, {.count = 100})
          .event_time([](std::int64_t number) { return number; })
          .key_by([](std::int64_t number) { return number / 10; })
          .count();
  const auto windows =
      hours.key_by([](const auto&) { return 0; })
          .window(Windows::tumbling(std::chrono::milliseconds(5)), [](const auto& one) { return one.first; })
          .count();
  windows.write(files.output(), [](const auto& one, Output& out) { out.line(one.window.begin, ' ', one.value); });
  windows.late().write(files.path() / "late", [](const auto& one, Output& out) { out.line(one.first); });
  ASSERT_EQ(run_pipeline(pipeline, {}), "");
  EXPECT_EQ(files.lines(), (Lines{"0 5", "5 5"}));
  EXPECT_FALSE(std::filesystem::exists(files.path() / "late"));
}

TEST(PipelineTest, AStateOfAKeySeesItsRecordsOneByOne) {
  const PipelineFiles files;
  Pipeline pipeline;
  write_lines(pipeline.generate(Identity(), {.count = 9}, {.replicas = 1})
                  .key_by([](std::uint64_t number) { return number % 2; })
                  .with_state<std::uint64_t, std::string>(
                      [](std::uint64_t key, std::uint64_t& sum, std::uint64_t number, auto& out) {
                        sum += number;
                        if (number >= 7) out(std::to_string(key) + " " + std::to_string(sum));
                      }),
              files.output());
  ASSERT_EQ(run_pipeline(pipeline, {}), "");
  EXPECT_EQ(files.lines(), (Lines{"0 20", "1 16"}));
}

TEST(PipelineTest, UnitedFlowsAreOne) {
  const PipelineFiles files;
  Pipeline pipeline;
  const auto low = pipeline.generate(Identity(), {.count = 3}, {.name = "low"});
  const auto high =
      pipeline.generate([](std::uint64_t number) { return number + 100; }, {.count = 2}, {.name = "high"});
  write_lines(low.unite(high).map([](std::uint64_t number) { return std::to_string(number); }), files.output());
  low.unite(high)
      .key_by([](std::uint64_t) { return 0; })
      .count()
      .write(files.path() / "sum", [](const auto& one, Output& out) { out.line(one.second); });
  ASSERT_EQ(run_pipeline(pipeline, {}), "");
  EXPECT_EQ(files.lines(), (Lines{"0", "1", "100", "101", "2"}));
  EXPECT_EQ(files.lines("sum"), (Lines{"5"}));
}

TEST(PipelineTest, AFunctionThatThrowsEndsTheProgramWithItsText) {
  const PipelineFiles files;
  Pipeline pipeline;
  write_lines(pipeline.generate(Identity(), {.count = 100}).map([](std::uint64_t number) {
    if (number == 77) throw std::invalid_argument("77 is bad");
    return std::to_string(number);
  }),
              files.output());
  const std::string failure = run_pipeline(pipeline, {.restarts = 0});
  EXPECT_NE(failure.find("generate/1"), std::string::npos) << failure;
  EXPECT_NE(failure.find("77 is bad"), std::string::npos) << failure;
}

TEST(PipelineTest, ResultsOfAnotherRunAreNotMixedWithNewOnes) {
  const PipelineFiles files;
  files.write("one", "a b a\n");
  ASSERT_EQ(run_pipeline(word_count(files), {.replicas = 1}), "");
  const std::string failure = run_pipeline(word_count(files), {.replicas = 3, .restarts = 0});
  EXPECT_NE(failure.find("has results of another run"), std::string::npos) << failure;
  EXPECT_EQ(files.lines(), (Lines{"a\t2", "b\t1"}));
}

TEST(PipelineTest, ResultsOfAMapReduceAreNotMixedWithNewOnes) {
  const PipelineFiles files;
  files.write("one", "a b a\n");
  std::filesystem::create_directories(files.output());
  write_file(files.output() / "part-00000", "a 2\n");
  const std::string failure = run_pipeline(word_count(files), {.restarts = 3});
  EXPECT_NE(failure.find("has results of another run"), std::string::npos) << failure;
  EXPECT_EQ(failure.find("budget"), std::string::npos) << "no restart can help: " << failure;
}

TEST(PipelineTest, OptionsThatDoNotFitAreRefused) {
  const auto refused = [](const Pipeline& pipeline, const PipelineOptions& options) {
    Program program("test");
    try {
      add_pipeline(program, pipeline, options);
    } catch (const Error& error) {
      return error.text();
    }
    return std::string();
  };
  EXPECT_EQ(refused(Pipeline(), {}), "a pipeline needs a source");
  const PipelineFiles files;
  EXPECT_EQ(refused(word_count(files), {.replicas = 0}), "a pipeline needs 1 replica of a stage at least");
  EXPECT_EQ(refused(word_count(files), {.replicas = 129}),
            "a pipeline needs 128 replicas of a stage at most; read has more");
}

std::atomic<std::uint64_t> made = 0;
// Numbers in the frames that wait, one that is filled and one that is read.
constexpr std::uint64_t kMostAhead =
    (dataflow::FrameOutput::kFramesAhead + 3) * dataflow::FrameOutput::kFrameBytes / sizeof(std::uint64_t);

TEST(PipelineTest, ASlowStageSlowsItsSourceDown) {
  constexpr std::uint64_t kCount = 1'000'000;
  const PipelineFiles files;
  Pipeline pipeline;
  pipeline
      .generate(
          [](std::uint64_t number) {
            ++made;
            return number;
          },
          {.count = kCount}, {.replicas = 1})
      .rebalance({.replicas = 1})
      .map([](std::uint64_t number) {
        std::uint64_t hash = number;
        for (int i = 0; i < 100; ++i) hash = mix64(hash);
        return std::pair(hash, made.load() - number);
      })
      .filter([](const auto& one) { return one.second > kMostAhead || one.first == 0; })
      .write(files.output(), [](const auto& one, Output& out) { out.line(one.second); });
  ASSERT_EQ(run_pipeline(pipeline, {}), "");
  EXPECT_EQ(made, kCount);
  EXPECT_FALSE(std::filesystem::exists(files.output())) << *files.lines().begin() << " records ahead";
}

}  // namespace
}  // namespace lp
