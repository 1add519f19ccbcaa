// Pipelines over files: a batch is a stream that ends.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lp/base/file.h"
#include "lp/base/hash.h"
#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

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
  write_lines(pipeline.generate([](std::uint64_t number) { return number; }, {.count = 1000})
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

TEST(PipelineTest, JoinsTwoFlowsByKey) {
  const PipelineFiles files;
  files.write("names", "1 one\n2 two\n3 three\n2 zwei\n");
  Pipeline pipeline;
  const auto names = pipeline.read({.paths = {files.input().string()}}).map([](std::string_view line) {
    return std::pair<std::uint64_t, std::string_view>(line[0] - '0', line.substr(2));
  });
  const auto numbers = pipeline.generate([](std::uint64_t number) { return number % 4; }, {.count = 8});
  write_lines(numbers.key_by([](std::uint64_t number) { return number; })
                  .join(names.key_by([](const auto& one) { return one.first; }),
                        [](std::uint64_t number, const auto& name) {
                          return std::to_string(number) + std::string(name.second);
                        }),
              files.output());
  ASSERT_EQ(run_pipeline(pipeline, {}), "");
  EXPECT_EQ(files.lines(), (Lines{"1one", "1one", "2two", "2two", "2zwei", "2zwei", "3three", "3three"}));
}

// The lines of each visible part, in the order of the parts.
std::vector<std::vector<std::string>> parts_of(const PipelineFiles& files) {
  std::map<std::filesystem::path, std::vector<std::string>> parts;
  for (const auto& part : std::filesystem::directory_iterator(files.output())) {
    if (part.is_directory()) continue;
    std::ifstream in(part.path());
    for (std::string line; std::getline(in, line);) parts[part.path()].push_back(line);
  }
  std::vector<std::vector<std::string>> out;
  for (auto& one : parts) out.push_back(std::move(one.second));
  return out;
}

std::vector<std::string> lines_in_order(const PipelineFiles& files) {
  std::vector<std::string> out;
  for (const auto& part : parts_of(files)) out.insert(out.end(), part.begin(), part.end());
  return out;
}

// A restart, which would fail likewise, costs an hour.
TEST(PipelineTest, AKeyWhoseRecordsNeedTooMuchMemoryEndsAJoinWithASentence) {
  const auto all = [](std::uint64_t) { return std::string("all"); };
  const auto numbers = [](const Pipeline& pipeline, std::uint64_t count) {
    return pipeline.generate([](std::uint64_t number) { return number; }, {.count = count});
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

TEST(PipelineTest, ReplicasSortMoreThanFitsIntoMemoryInRangesOfTheKeys) {
  const PipelineFiles files;
  Pipeline pipeline;
  write_lines(pipeline
                  .generate([](std::uint64_t number) { return std::to_string(number * 7919 % 100'000 + 100'000); },
                            {.count = 100'000}, {.replicas = 2})
                  .sort([](const std::string& line) { return std::string_view(line); }),
              files.output());
  ASSERT_EQ(run_pipeline(pipeline, {.replicas = 3, .memory = 1 << 20}), "");
  ASSERT_EQ(parts_of(files).size(), 3U);
  for (const auto& part : parts_of(files)) {
    EXPECT_GT(part.size(), 30'000U);
    EXPECT_LT(part.size(), 37'000U);
  }
  std::size_t count = 0;
  for (const std::string& line : lines_in_order(files)) ASSERT_EQ(line, std::to_string(count++ + 100'000));
  EXPECT_EQ(count, 100'000U);
}

TEST(PipelineTest, RecordsWithEqualKeysAreSortedAndDividedLikeOthers) {
  const auto sorted = [](int replicas) {
    const PipelineFiles files;
    Pipeline pipeline;
    pipeline.generate([](std::uint64_t number) { return number; }, {.count = 30'000})
        .sort([](std::uint64_t number) { return number < 20'000 ? 7 : -static_cast<int>(number % 3); })
        .write(files.output(), [](std::uint64_t number, Output& out) { out.line(number); });
    EXPECT_EQ(run_pipeline(pipeline, {.replicas = replicas, .memory = 1 << 20}), "");
    for (const auto& part : parts_of(files)) EXPECT_LT(part.size(), 45'000U / replicas);
    return lines_in_order(files);
  };
  const auto once = sorted(1);
  EXPECT_EQ(once.size(), 30'000U);
  EXPECT_EQ(once, sorted(4));
}

TEST(PipelineTest, AFolderGivenForScratchKeepsWhatElseItHas) {
  const PipelineFiles files;
  const auto scratch = files.path() / "scratch";
  std::filesystem::create_directory(scratch);
  std::ofstream(scratch / "own") << "of the user";
  Pipeline pipeline;
  pipeline.generate([](std::uint64_t number) { return number; }, {.count = 100})
      .sort([](std::uint64_t number) { return 100 - number; })
      .write(files.output(), [](std::uint64_t number, Output& out) { out.line(number); });
  ASSERT_EQ(run_pipeline(pipeline, {.replicas = 2, .scratch = scratch}), "");
  EXPECT_EQ(lines_in_order(files).size(), 100U);
  ASSERT_EQ(std::distance(std::filesystem::directory_iterator(scratch), {}), 1);
  EXPECT_TRUE(std::filesystem::exists(scratch / "own"));
}

TEST(PipelineTest, TextsAreSortedByAllTheirBytes) {
  const std::vector<std::string> texts = {"",
                                          std::string(1, '\0'),
                                          std::string(2, '\0'),
                                          std::string("\0\1", 2),
                                          std::string("\0\xff", 2),
                                          "a",
                                          std::string("a\0", 2),
                                          std::string("a\0\0b", 4),
                                          std::string("a\0b", 3),
                                          std::string("a\xff\0", 3),
                                          "a\xff\xff",
                                          "b"};
  const PipelineFiles files;
  Pipeline pipeline;
  pipeline
      .generate(
          [texts](std::uint64_t number) {
            const std::size_t at = number * 7 % texts.size();
            return std::pair<std::string, std::uint64_t>(texts[at], at);
          },
          {.count = texts.size()})
      .sort([](const auto& one) { return std::string_view(one.first); }, {.replicas = 5})
      .write(files.output(), [](const auto& one, Output& out) { out.line(one.second); });
  ASSERT_EQ(run_pipeline(pipeline, {}), "");
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < texts.size(); ++i) expected.push_back(std::to_string(i));
  EXPECT_EQ(lines_in_order(files), expected);
}

TEST(PipelineTest, ASortOfNothingIsEmpty) {
  const PipelineFiles files;
  Pipeline pipeline;
  write_lines(
      pipeline.generate([](std::uint64_t) { return std::string(); }, {.count = 0}).sort([](const std::string& line) {
        return std::string_view(line);
      }),
      files.output());
  ASSERT_EQ(run_pipeline(pipeline, {}), "");
  EXPECT_FALSE(std::filesystem::exists(files.output()));
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
  write_lines(pipeline.generate([](std::uint64_t number) { return number; }, {.count = 9}, {.replicas = 1})
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
  const auto low = pipeline.generate([](std::uint64_t number) { return number; }, {.count = 3}, {.name = "low"});
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
  write_lines(
      pipeline.generate([](std::uint64_t number) { return number; }, {.count = 100}).map([](std::uint64_t number) {
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
