#include "lp/wire/flatbuffers_table.h"

#include <gtest/gtest.h>

#include "lp/base/error.h"
#include "tests/lp/wire/everything.h"
#include "tests/lp/wire/round_trip.h"

namespace lp {
namespace {

using everything::make_row;
using everything::Row;

TEST(Table, TravelsSmallAndBig) {
  for (const std::size_t size : {3u, 5000u}) {
    const Table<Row> table = make_row("label", std::vector<float>(size, 2));
    const Table<Row> back = round_trip(table);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->label()->str(), "label");
    EXPECT_EQ(back->values()->size(), size);
    EXPECT_EQ((*back).values()->Get(2), 2);
    EXPECT_EQ(encoded(table).arrays.size(), size > 1000 ? 1u : 0u);
  }
}

TEST(Table, NoneTravelsToo) { EXPECT_FALSE(round_trip(Table<Row>())); }

TEST(Table, IsAlignedHoweverItArrives) {
  const Message frames = encoded(make_row("label", std::vector<float>(5000, 2)));
  Buffer moved = Buffer::uninitialized(frames.arrays[0].size() + 1);
  std::memcpy(moved.edit().data() + 1, frames.arrays[0].data(), frames.arrays[0].size());
  const std::vector<Buffer> arrays{moved.slice(1, frames.arrays[0].size())};
  const auto back = decoded<Table<Row>>(frames.body.bytes(), arrays);
  EXPECT_TRUE(back.buffer().aligned_to(16));
  EXPECT_EQ(back->values()->Get(4999), 2);
}

TEST(Table, MalformedTablesAreRefused) {
  const Message frames = encoded(make_row("label", {1, 2, 3}));
  int refused = 0;
  for (std::size_t i = 8; i < frames.body.size(); ++i) {
    Buffer wrong = frames.body;
    wrong.edit()[i] = std::byte{0xff};
    try {
      decoded<Table<Row>>(wrong.bytes());
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 10);
  Writer writer;
  writer.count(1);
  writer.number(std::uint8_t{0});
  EXPECT_THROW(decoded<Table<Row>>(writer.take()), Error);
}

TEST(Table, DepthIsBounded) {
  EXPECT_NO_THROW(round_trip(make_row("x", {}, 60)));
  EXPECT_THROW(round_trip(make_row("x", {}, 70)), Error);
}

}  // namespace
}  // namespace lp
