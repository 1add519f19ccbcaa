// Pipelines over files: a batch is a stream that ends.

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::PipelineFiles;
using test::run_pipeline;

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

}  // namespace
}  // namespace lp
