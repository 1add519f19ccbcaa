// Flows that are sorted, by ranges of their keys in several replicas.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
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

TEST(PipelineSortTest, ReplicasSortMoreThanFitsIntoMemoryInRangesOfTheKeys) {
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

TEST(PipelineSortTest, RecordsWithEqualKeysAreSortedAndDividedLikeOthers) {
  const auto sorted = [](int replicas) {
    const PipelineFiles files;
    Pipeline pipeline;
    pipeline.generate(Identity(), {.count = 30'000})
        .sort([](std::uint64_t number) { return number < 20'000 ? 7 : -static_cast<int>(number % 3); })
        .write(files.output(), [](std::uint64_t number, Output& out) { out.line(number); });
    EXPECT_EQ(run_pipeline(pipeline, {.replicas = replicas, .memory = 1 << 20}), "");
    for (const auto& part : parts_of(files)) EXPECT_LT(part.size(), 45'000U / static_cast<unsigned>(replicas));
    return lines_in_order(files);
  };
  const auto once = sorted(1);
  EXPECT_EQ(once.size(), 30'000U);
  EXPECT_EQ(once, sorted(4));
}

TEST(PipelineSortTest, AFolderGivenForScratchKeepsWhatElseItHas) {
  const PipelineFiles files;
  const auto scratch = files.path() / "scratch";
  std::filesystem::create_directory(scratch);
  std::ofstream(scratch / "own") << "of the user";
  Pipeline pipeline;
  pipeline.generate(Identity(), {.count = 100})
      .sort([](std::uint64_t number) { return 100 - number; })
      .write(files.output(), [](std::uint64_t number, Output& out) { out.line(number); });
  ASSERT_EQ(run_pipeline(pipeline, {.replicas = 2, .scratch = scratch}), "");
  EXPECT_EQ(lines_in_order(files).size(), 100U);
  ASSERT_EQ(std::distance(std::filesystem::directory_iterator(scratch), {}), 1);
  EXPECT_TRUE(std::filesystem::exists(scratch / "own"));
}

TEST(PipelineSortTest, TextsAreSortedByAllTheirBytes) {
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

TEST(PipelineSortTest, ASortOfNothingIsEmpty) {
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

}  // namespace
}  // namespace lp
