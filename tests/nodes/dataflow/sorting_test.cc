// Sorting, combining and merging pairs, against the standard library.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "nodes/dataflow/combine_table.h"
#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/map_output.h"
#include "nodes/dataflow/merge.h"
#include "nodes/dataflow/sort_buffer.h"
#include "tests/directory.h"

namespace lp::dataflow {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

// Keys of all lengths, many of them equal, or equal in their first eight bytes; bytes of all values.
std::string random_key(Random& random) {
  const std::string begin = random.below(2) == 0 ? "prefix__" : "";
  std::string out = begin;
  for (std::uint64_t i = random.below(random.below(4) == 0 ? 20 : 3); i > 0; --i) {
    out += static_cast<char>(random.below(2) == 0 ? random.below(3) : random.below(256));
  }
  return out;
}

Texts random_pairs(std::size_t count, std::uint64_t seed) {
  Random random(seed, "pairs", 0);
  Texts out;
  for (std::size_t i = 0; i < count; ++i) out.emplace_back(random_key(random), std::to_string(i));
  return out;
}

Texts sorted(Texts pairs) {
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return pairs;
}

std::function<std::string()> names_in(const test::Directory& directory) {
  return [path = directory.path(), number = 0]() mutable { return (path / std::to_string(number++)).string(); };
}

Texts all_of(Merge merge) {
  Texts out;
  for (Pair pair; merge.next(pair);) out.emplace_back(pair.key, pair.value);
  return out;
}

MergeInput input_of(const SortedRun& run, std::uint32_t partition) {
  const Segment segment = run.segments[partition];
  return {.bytes = segment.bytes, .open = [path = run.path, segment] { return file_segment(path, segment); }};
}

TEST(SortBufferTest, SortsByPartitionAndKeyAndKeepsTheOrderOfEqualKeys) {
  const Partitioner partitioner(7);
  SortBuffer buffer(4 << 20, 7);
  const Texts pairs = random_pairs(20'000, 1);
  for (const auto& [key, value] : pairs) ASSERT_TRUE(buffer.add(partitioner(key), {key, value}));
  std::vector<Texts> found(7);
  std::uint32_t last = 0;
  for (const SortEntry& one : buffer.sorted()) {
    EXPECT_GE(one.partition, last);
    last = one.partition;
    const Pair pair = buffer.pair_at(one);
    EXPECT_EQ(partitioner(pair.key), one.partition);
    found[one.partition].emplace_back(pair.key, pair.value);
  }
  Texts all;
  for (const Texts& one : found) {
    EXPECT_EQ(one, sorted(one));
    EXPECT_GT(one.size(), 0U);
    all.insert(all.end(), one.begin(), one.end());
  }
  EXPECT_EQ(sorted(all), sorted(pairs));
}

TEST(SortBufferTest, TakesNoMoreThanItsMemory) {
  SortBuffer buffer(1 << 16, 1);
  std::size_t count = 0;
  while (buffer.add(0, {"key", std::string(100, 'v')})) ++count;
  EXPECT_GT(count * (100 + 3), (1U << 16) * 3 / 4);
  EXPECT_LE(count * (100 + 3 + sizeof(SortEntry)), 1U << 16);
  buffer.clear();
  EXPECT_TRUE(buffer.empty());
  EXPECT_TRUE(buffer.add(0, {"key", "value"}));
}

TEST(CombineTableTest, CountsAsAMapDoes) {
  CombineTable table(8 << 20, sizeof(std::uint64_t));
  std::map<std::string, std::uint64_t> expected;
  for (const auto& [key, value] : random_pairs(50'000, 2)) {
    ++expected[key];
    bool added = false;
    char* const at = table.find_or_add(key, added);
    ASSERT_NE(at, nullptr);
    std::uint64_t count = 0;
    if (!added) std::memcpy(&count, at, sizeof(count));
    ++count;
    std::memcpy(at, &count, sizeof(count));
  }
  EXPECT_EQ(table.size(), expected.size());
  auto next = expected.begin();
  for (const SortEntry& one : table.sorted(Partitioner(1))) {
    const Pair pair = table.pair_at(one);
    EXPECT_EQ(pair.key, next->first);
    EXPECT_EQ(value_of<std::uint64_t>(pair.value), next->second);
    ++next;
  }
  EXPECT_EQ(next, expected.end());
}

TEST(CombineTableTest, IsFullAtItsMemoryAndEmptyAgainAfterwards) {
  CombineTable table(1 << 20, 8);
  bool added = false;
  std::size_t count = 0;
  while (table.find_or_add(std::to_string(count), added) != nullptr) ++count;
  EXPECT_GT(count, 10'000U);
  EXPECT_EQ(table.sorted(Partitioner(3)).size(), count);
  table.clear();
  EXPECT_TRUE(table.empty());
  ASSERT_NE(table.find_or_add("0", added), nullptr);
  EXPECT_TRUE(added);
}

TEST(MergeTest, MergesRunsOfAllSizesInTheirOrder) {
  for (const std::size_t runs : {0U, 1U, 2U, 3U, 5U, 8U, 33U}) {
    const test::Directory directory;
    const auto name = names_in(directory);
    Texts expected;
    std::vector<MergeInput> inputs;
    for (std::size_t i = 0; i < runs; ++i) {
      Texts pairs = random_pairs(i * 97, i);
      for (auto& [key, value] : pairs) value = std::to_string(i) + "/" + value;
      expected.insert(expected.end(), pairs.begin(), pairs.end());
      RunWriter writer(name(), 1);
      for (const auto& [key, value] : sorted(pairs)) writer.add(0, {key, value});
      inputs.push_back(input_of(writer.finish(), 0));
    }
    EXPECT_EQ(all_of(merge_within(std::move(inputs), 1 << 20, name)), sorted(expected)) << runs;
  }
}

TEST(MergeTest, MoreRunsThanMemoryAllowsAreMergedInSteps) {
  const test::Directory directory;
  const auto name = names_in(directory);
  Texts expected;
  std::vector<MergeInput> inputs;
  for (std::size_t i = 0; i < 50; ++i) {
    const Texts pairs{{"same", std::to_string(i)}, {"then", std::to_string(i)}};
    expected.insert(expected.end(), pairs.begin(), pairs.end());
    RunWriter writer(name(), 1);
    for (const auto& [key, value] : pairs) writer.add(0, {key, value});
    inputs.push_back(input_of(writer.finish(), 0));
  }
  EXPECT_EQ(all_of(merge_within(std::move(inputs), 3 << 16, name)), sorted(expected));
}

TEST(MergeTest, NoFileIsWrittenWhenMemoryHasABlockOfEachRun) {
  for (const std::size_t runs : {12U, 40U}) {
    const test::Directory directory;
    const auto name = names_in(directory);
    Texts expected;
    std::vector<MergeInput> inputs;
    for (std::size_t i = 0; i < runs; ++i) {
      Texts pairs;
      for (std::size_t j = 100; j < 140; ++j) pairs.emplace_back(std::to_string(j * runs + i), std::string(3000, 'v'));
      expected.insert(expected.end(), pairs.begin(), pairs.end());
      RunWriter writer(name(), 1);
      for (const auto& [key, value] : sorted(pairs)) writer.add(0, {key, value});
      inputs.push_back(input_of(writer.finish(), 0));
    }
    std::size_t files = 0;
    EXPECT_EQ(all_of(merge_within(std::move(inputs), 1 << 18, [&] { return ++files, name(); })), sorted(expected));
    EXPECT_EQ(files > 0, runs == 40U);
  }
}

TEST(MapOutputTest, SpillsWhenItsMemoryIsFullAndLosesNothing) {
  const test::Directory directory;
  const auto name = names_in(directory);
  const Partitioner partitioner(3);
  MapOutput output(partitioner, 1 << 16, std::nullopt, name);
  Texts pairs = random_pairs(20'000, 3);
  pairs.emplace_back("huge", std::string(1 << 18, 'h'));  // more than the memory
  pairs.emplace_back("last", "x");
  for (const auto& [key, value] : pairs) output.add({key, value});
  const std::vector<SortedRun> runs = output.finish();
  EXPECT_GT(runs.size(), 5U);
  Texts found;
  for (std::uint32_t partition = 0; partition < 3; ++partition) {
    std::vector<MergeInput> inputs;
    for (const SortedRun& run : runs) inputs.push_back(input_of(run, partition));
    const Texts part = all_of(merge_within(std::move(inputs), 1 << 20, name));
    for (const auto& [key, value] : part) EXPECT_EQ(partitioner(key), partition);
    EXPECT_EQ(part, sorted(part));
    found.insert(found.end(), part.begin(), part.end());
  }
  EXPECT_EQ(sorted(found), sorted(pairs));
}

TEST(RunFileTest, ARunThatIsCutOffIsNamed) {
  const test::Directory directory;
  RunWriter writer((directory.path() / "run").string(), 1);
  writer.add(0, {"key", "value"});
  const SortedRun run = writer.finish();
  RunReader reader(file_segment(run.path, run.segments[0]), run.segments[0].bytes, 1 << 16);
  std::filesystem::resize_file(run.path, run.segments[0].bytes - 1);
  Pair pair;
  EXPECT_THROW(reader.next(pair), Error);
}

TEST(RunFileTest, AWriterThatIsNotFinishedLeavesNoFile) {
  const test::Directory directory;
  const std::string path = (directory.path() / "run").string();
  { RunWriter writer(path, 1); }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(PartitionerTest, RangesFollowTheBounds) {
  const Partitioner partitioner(std::vector<std::string>{"b", "prefix__a", "prefix__c"});
  EXPECT_EQ(partitioner.partitions(), 4U);
  EXPECT_EQ(partitioner(""), 0U);
  EXPECT_EQ(partitioner("azzz"), 0U);
  EXPECT_EQ(partitioner("b"), 1U);
  EXPECT_EQ(partitioner("prefix__"), 1U);
  EXPECT_EQ(partitioner("prefix__a"), 2U);
  EXPECT_EQ(partitioner("prefix__bb"), 2U);
  EXPECT_EQ(partitioner("prefix__c"), 3U);
  EXPECT_EQ(partitioner("z"), 3U);
}

TEST(PartitionerTest, BoundsOfASampleMakePartsOfTheSameSizeAndNoEmptyOnes) {
  EXPECT_EQ(bounds_of({"a", "b", "c", "d"}, 2), std::vector<std::string>{"c"});
  EXPECT_EQ(bounds_of({"a", "a", "a", "a"}, 4), std::vector<std::string>{"a"});
  EXPECT_TRUE(bounds_of({}, 4).empty());
}

template <class K>
void expect_order(const std::vector<K>& ascending) {
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    const KeyBytes<K> bytes(ascending[i]);
    EXPECT_EQ(key_of<K>(bytes.view()), ascending[i]);
    if (i == 0) continue;
    EXPECT_LT(KeyBytes<K>(ascending[i - 1]).view(), bytes.view());
  }
}

TEST(KeyCodecTest, BytesCompareAsKeysDo) {
  expect_order<std::int64_t>({INT64_MIN, -256, -1, 0, 1, 255, 256, INT64_MAX});
  expect_order<std::int8_t>({-128, -1, 0, 127});
  expect_order<std::uint32_t>({0, 1, 255, 256, UINT32_MAX});
  expect_order<double>({-1e300, -1.5, -1e-300, 0, 1e-300, 1.5, 1e300});
  expect_order<std::string>({"", "a", "aa", "b", "\xff"});
}

}  // namespace
}  // namespace lp::dataflow
