// The memory of a server: limits in bytes while much more passes through, and chunks on the disk.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "tests/directory.h"
#include "tests/full_disk.h"
#include "tests/nodes/replay/replay_run.h"

namespace lp::replay {
namespace {

constexpr std::uint32_t kValues = 16 << 10;  // 64 KiB

Columns large_columns() { return {column<float>("values", kValues)}; }

// Bytes of this process that are in memory and belong to no file.
std::uint64_t memory_now() {
  std::ifstream status("/proc/self/status");
  std::uint64_t bytes = 0;
  for (std::string word; status >> word;) {
    if (word != "RssAnon:" && word != "RssShmem:") continue;
    std::uint64_t kilobytes = 0;
    status >> kilobytes;
    bytes += kilobytes << 10;
  }
  return bytes;
}

// Appends a step whose values are all `number`, as an item.
void insert_large(TrajectoryWriter& writer, std::uint64_t number) {
  writer.append(std::vector<float>(kValues, static_cast<float>(number)));
  writer.add_item(1);
}

void expect_all(const Batch& batch, std::size_t i, std::uint64_t number) {
  const auto values = batch.get<float>(i, 0, "values");
  EXPECT_TRUE(
      std::all_of(values.begin(), values.end(), [number](float value) { return value == static_cast<float>(number); }));
}

// Passes `bytes` through tables of several kinds that have room for `limit`.
void pass_through(std::uint64_t bytes, std::uint64_t limit) {
  constexpr std::uint64_t kSlack = std::uint64_t{48} << 20;  // the writer's chunks, a sample, the allocator's
  TableOptions options{.name = "steps", .columns = large_columns()};
  options.max_bytes = limit;
  options.sampler = Uniform{};
  options.remover = Fifo{};
  ReplayRun replay(options);
  const std::uint64_t before = memory_now();
  TrajectoryWriter writer(replay.client(), "steps", {.window = 2, .chunk_steps = 8, .batch = 16});
  Sampler sampler(replay.client(), "steps");
  const std::uint64_t items = bytes / (kValues * sizeof(float));
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < items; ++i) {
    insert_large(writer, i);
    if (i % 64 != 63) continue;
    sampler.sample(4);
    const ServerInfo info = replay.client().call<&Server::info>();
    EXPECT_LE(info.tables[0].bytes, limit);
    EXPECT_LE(info.bytes_in_memory, limit + kSlack);
    most = std::max(most, memory_now());
  }
  EXPECT_GT(most, before + limit / 2);
#if !defined(LP_SANITIZED)  // the address sanitizer holds back memory that was freed
  EXPECT_LT(most, before + limit + kSlack);
#endif
}

TEST(ReplayMemoryTest, ATableStaysUnderItsLimit) { pass_through(std::uint64_t{400} << 20, std::uint64_t{64} << 20); }

TEST(ReplayMemoryLong, ATableStaysUnderItsLimitWhileTenGigabytesPass) {
  pass_through(std::uint64_t{10} << 30, std::uint64_t{256} << 20);
}

TEST(ReplayMemoryTest, WhatIsTooMuchForMemoryIsOnTheDiskAndReadThere) {
  constexpr std::uint64_t kItems = 400;  // 25 MiB
  constexpr std::uint64_t kMemory = 4 << 20;
  const test::Directory directory;
  TableOptions options = queue_table("steps", large_columns(), kItems);
  ReplayRun replay(ServerOptions{.tables = {options}, .memory = kMemory, .spill = directory.path()});
  TrajectoryWriter writer(replay.client(), "steps", {.chunk_steps = 4, .batch = 4});
  for (std::uint64_t i = 0; i < kItems; ++i) insert_large(writer, i);
  writer.flush();
  ServerInfo info = replay.client().call<&Server::info>();
  EXPECT_LE(info.bytes_in_memory, kMemory);
  EXPECT_EQ(info.bytes_in_memory + info.bytes_on_disk, kItems * kValues * sizeof(float));
  Sampler sampler(replay.client(), "steps");
  for (std::uint64_t i = 0; i < kItems; i += 50) {
    const Batch batch = sampler.sample(50);
    for (std::uint64_t k = 0; k < 50; ++k) expect_all(batch, k, i + k);
  }
  info = replay.client().call<&Server::info>();
  EXPECT_EQ(info.bytes_in_memory + info.bytes_on_disk, 0U);
}

TEST(ReplayMemoryTest, ADiskWithLittleRoomIsUsed) {
  constexpr std::uint64_t kItems = 100;  // 6 MiB
  const test::Directory directory;
  TableOptions options = queue_table("steps", large_columns(), kItems);
  ReplayRun replay(ServerOptions{.tables = {options}, .memory = 1 << 20, .spill = directory.path()});
  const test::FullDisk full(Spill::kSegmentBytes / 8);
  TrajectoryWriter writer(replay.client(), "steps", {.chunk_steps = 1, .batch = 1});
  for (std::uint64_t i = 0; i < kItems; ++i) insert_large(writer, i);
  writer.flush();
  EXPECT_GT(replay.client().call<&Server::info>().bytes_on_disk, std::uint64_t{5} << 20);
  Sampler sampler(replay.client(), "steps");
  for (std::uint64_t i = 0; i < kItems; ++i) expect_all(sampler.sample(1), 0, i);
}

TEST(ReplayMemoryTest, ADiskThatFillsInTheMiddleOfASpillIsAnErrorAndLosesNothing) {
  const test::Directory directory;
  TableOptions options = queue_table("steps", large_columns(), 10'000);
  ReplayRun replay(ServerOptions{.tables = {options}, .memory = 1 << 20, .spill = directory.path()});
  TrajectoryWriter writer(replay.client(), "steps", {.chunk_steps = 1, .batch = 1});
  std::uint64_t inserted = 0;
  const auto insert_more = [&](std::uint64_t end) {
    for (; inserted < end; ++inserted) insert_large(writer, inserted);
    writer.flush();
  };
  insert_more(1000);  // some in memory, the rest in the first segment
  {
    const test::FullDisk full(Spill::kSegmentBytes / 2);
    const Error error = error_of([&] {
      for (;; ++inserted) insert_large(writer, inserted);
    });
    EXPECT_EQ(error.kind(), ErrorKind::overloaded);
    EXPECT_NE(error.text().find("cannot spill to " + directory.path().string()), std::string::npos) << error.text();
  }
  ++inserted;  // the writer has the item whose insert_large failed
  insert_more(inserted + 20);
  Sampler sampler(replay.client(), "steps");
  ASSERT_EQ(sampler.info()[0].size, inserted);
  for (std::uint64_t i = 0; i < inserted; ++i) expect_all(sampler.sample(1), 0, i);
}

}  // namespace
}  // namespace lp::replay
