// The ring of one thread's records: order, bounds, and a reader beside the writer.

#include "lp/rpc/observation/span_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace lp {
namespace {

SpanRecord numbered(std::uint64_t number) {
  return {.id = number, .parent = ~number, .node = static_cast<std::uint32_t>(number)};
}

TEST(SpanRing, GivesRecordsInOrderOverItsEnd) {
  SpanRing ring;
  std::uint64_t written = 0, seen = 0;
  for (const std::size_t count : {SpanRing::kSize - 1, SpanRing::kSize, std::size_t{3}, SpanRing::kSize / 2}) {
    for (std::size_t i = 0; i < count; ++i) ring.write(numbered(written++));
    EXPECT_FALSE(ring.empty());
    std::vector<SpanRecord> records;
    ring.read(records, SpanRing::kSize);
    for (const SpanRecord& record : records) EXPECT_EQ(record.id, seen++);
    EXPECT_EQ(seen, written);
    EXPECT_TRUE(ring.empty());
  }
  EXPECT_EQ(ring.take_lost(), 0U);
}

TEST(SpanRing, CountsWhatItHasNoRoomFor) {
  SpanRing ring;
  for (std::size_t i = 0; i < SpanRing::kSize + 7; ++i) ring.write(numbered(i));
  EXPECT_EQ(ring.take_lost(), 7U);
  EXPECT_EQ(ring.take_lost(), 0U);
  std::vector<SpanRecord> records;
  ring.read(records, 5);
  EXPECT_EQ(records.size(), 5U);
  ring.write(numbered(SpanRing::kSize));
  ring.read(records, SpanRing::kSize);
  ASSERT_EQ(records.size(), SpanRing::kSize + 1);
  EXPECT_EQ(records.back().id, SpanRing::kSize);
  EXPECT_EQ(ring.take_lost(), 0U);
}

TEST(SpanRing, ARecordIsWholeWhileAnotherThreadWrites) {
  constexpr std::uint64_t kRecords = 20 * SpanRing::kSize;
  SpanRing ring;
  std::atomic<bool> written = false;
  const Thread writer = spawn("writer", [&] {
    for (std::uint64_t i = 0; i < kRecords; ++i) ring.write(numbered(i));
    written = true;
  });
  std::vector<SpanRecord> records;
  for (bool last = false; !last;) {
    last = written;
    ring.read(records, SpanRing::kSize);
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    ASSERT_EQ(records[i].parent, ~records[i].id);
    ASSERT_EQ(records[i].node, static_cast<std::uint32_t>(records[i].id));
    if (i > 0) {
      ASSERT_GT(records[i].id, records[i - 1].id);
    }
  }
  EXPECT_EQ(records.size() + ring.take_lost(), kRecords);
}

TEST(SpanRecord, ANameIsNotCutWithinACharacter) {
  SpanRecord record;
  const std::string full(SpanRecord::kLongestName, 'a');
  record.set_name(full);
  EXPECT_EQ(record.name(), full);
  record.set_name(full.substr(1) + "\xC3\xA4");  // two bytes, of which one has room
  EXPECT_EQ(record.name(), full.substr(1));
  record.set_name(std::string(100, '\x80'));  // no UTF-8 at all
  EXPECT_EQ(record.name(), std::string(SpanRecord::kLongestName, '\x80'));
  record.set_name("");
  EXPECT_EQ(record.name(), "");
}

}  // namespace
}  // namespace lp
