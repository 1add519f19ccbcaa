// Checkpoints of a replay table whose numbers were changed by hand, one at a time: each is refused with a sentence that
// names the table or the chunks, and the number, and changes nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "nodes/replay/chunk_compression.h"
#include "nodes/replay/saved_chunks.h"
#include "nodes/replay/table.h"

namespace lp::replay {
namespace {

constexpr std::uint32_t kShard = 5;

TableOptions edited_options() {
  TableOptions options{.name = "steps", .columns = {column<std::uint64_t>("number")}, .max_items = 50};
  options.limits = sample_to_insert(/*ratio=*/4, /*items=*/1, /*buffer=*/8);
  options.max_times_sampled = 3;
  return options;
}

// A saved table of two items: one with both steps of the first chunk, one with the compressed second chunk.
class DamagedCheckpointTest : public testing::Test {
 protected:
  DamagedCheckpointTest() {
    table_.insert({.piece = {.chunk = chunk(2, false), .first = 0, .steps = 2}, .priority = 1});
    table_.insert({.piece = {.chunk = chunk(1, true), .first = 0, .steps = 1}, .priority = 2});
    SampleBuilder builder(1);
    table_.sample(1, builder);
    ChunkList chunks;
    table_.save(saved_, chunks);
    save_chunks(saved_, chunks.chunks());
  }
  ChunkRef chunk(std::uint32_t steps, bool compressed) {
    const std::vector<std::uint64_t> numbers(steps, 7);
    const auto bytes = std::as_bytes(std::span(numbers));
    const Buffer buffer = compressed ? compress(bytes) : Buffer::copy_of(bytes);
    return store_.add({.key = 0, .steps = steps, .compressed = compressed, .bytes = Array<std::uint8_t>(buffer)}, 8);
  }
  template <class T>
  Checkpoint with(const std::string& entry, const std::vector<T>& values) const {
    Checkpoint edited = saved_;
    edited.replace(entry, Array<T>::copy_of(values));
    return edited;
  }
  template <class T>
  std::vector<T> saved(const std::string& entry) const {
    const auto values = saved_.get<Array<T>>(entry);
    return {values.begin(), values.end()};
  }
  // The part of the error about the number.
  std::string refusal(const Checkpoint& edited) {
    std::string text = "it is taken";
    try {
      table_.load(edited, load_chunks(edited, store_));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::failed);
      text = error.text();
    }
    EXPECT_EQ(table_.size(), 2U);
    for (const std::string cut :
         {"the saved replay table \"steps\" is damaged: ", "the saved chunks of the replay server are damaged: ",
          "; import the numbers again as `lp checkpoint export` wrote them, or take another "
          "checkpoint"}) {
      if (const std::size_t at = text.find(cut); at != std::string::npos) text.erase(at, cut.size());
    }
    return text;
  }
  template <class T>
  std::string refusal_with(const std::string& entry, const std::vector<T>& values) {
    return refusal(with(entry, values));
  }

  ChunkStore store_{1, 0, {}};
  Table table_{edited_options(), 0, kShard, 1, Random(1, "table")};
  Checkpoint saved_{};
};

using U8 = std::vector<std::uint8_t>;
using U32 = std::vector<std::uint32_t>;
using U64 = std::vector<std::uint64_t>;

TEST_F(DamagedCheckpointTest, TheUnchangedOneIsTaken) {
  EXPECT_EQ(refusal(saved_), "it is taken");
  EXPECT_EQ(table_.info().counts.samples, 1U);
}

TEST_F(DamagedCheckpointTest, TheSentenceNamesTheTableAndTheRemedy) {
  try {
    const Checkpoint edited = with("chunks/row_bytes", U64{8});
    table_.load(edited, load_chunks(edited, store_));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(),
              "the saved chunks of the replay server are damaged: chunks/row_bytes has 1 elements, but chunks/keys has "
              "2; import the numbers again as `lp checkpoint export` wrote them, or take another checkpoint");
  }
  try {
    const Checkpoint edited = with("steps/counts", U64{});
    table_.load(edited, load_chunks(edited, store_));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(
        error.text(),
        "the saved replay table \"steps\" is damaged: counts has 0 elements, but there are 3: inserts, samples "
        "and removals; import the numbers again as `lp checkpoint export` wrote them, or take another checkpoint");
  }
}

TEST_F(DamagedCheckpointTest, NumbersOfChunksThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal_with("chunks/keys", U64{1}), "chunks/row_bytes has 2 elements, but chunks/keys has 1");
  EXPECT_EQ(refusal_with("chunks/row_bytes", U64{0, 8}), "chunks/row_bytes of chunk 0 is 0");
  EXPECT_EQ(refusal_with("chunks/row_bytes", U64{8, ~std::uint64_t{0}}),
            "chunks/row_bytes of chunk 1 is 18446744073709551615");
  EXPECT_EQ(refusal_with("chunks/row_bytes", U64{16, 8}),
            "chunk 0 has 16 bytes of rows, but 2 steps of 16 chunks/row_bytes need 32");
  EXPECT_EQ(refusal_with("chunks/row_bytes", U64{8, 16}),
            "chunk 1 has 8 bytes of rows, but 1 steps of 16 chunks/row_bytes need 16");
  EXPECT_EQ(refusal_with("chunks/steps", U32{2, 0}), "chunks/steps of chunk 1 is 0");
  EXPECT_EQ(refusal_with("chunks/steps", U32{3, 1}),
            "chunk 0 has 16 bytes of rows, but 3 steps of 8 chunks/row_bytes need 24");
  EXPECT_EQ(refusal_with("chunks/steps", U32{2, 4'000'000'000}),
            "chunk 1 has 8 bytes of rows, but 4000000000 steps of 8 chunks/row_bytes need 32000000000");
  EXPECT_EQ(refusal_with("chunks/compressed", U8{0, 2}), "chunks/compressed of chunk 1 is 2, and not 0 or 1");
  EXPECT_EQ(refusal_with("chunks/compressed", U8{1, 1}),
            "chunk 0 has 0 bytes of rows, but 2 steps of 8 chunks/row_bytes need 16");
  U64 sizes = saved<std::uint64_t>("chunks/sizes");
  EXPECT_EQ(refusal_with("chunks/sizes", U64{sizes[0] + 8, sizes[1]}),
            "chunk 0 has 24 bytes of rows, but 2 steps of 8 chunks/row_bytes need 16");
  EXPECT_NE(refusal_with("chunks/sizes", U64{sizes[0], ~std::uint64_t{0}}).find("chunks/sizes asks for"),
            std::string::npos);
  EXPECT_NE(refusal_with("chunks/sizes", U64{sizes[0], sizes[1] - 1}), "it is taken");
  Checkpoint fewer = with("chunks/keys", U64{0});
  fewer.replace("chunks/row_bytes", Array<std::uint64_t>::copy_of(U64{8}));
  fewer.replace("chunks/steps", Array<std::uint32_t>::copy_of(U32{2}));
  fewer.replace("chunks/compressed", Array<std::uint8_t>::copy_of(U8{0}));
  fewer.replace("chunks/sizes", Array<std::uint64_t>::copy_of(U64{sizes[0]}));
  EXPECT_EQ(refusal(fewer), "chunks/data has more bytes than chunks/sizes has together");
}

// Both numbers fit the bytes of the chunk, and not the columns of the table.
TEST_F(DamagedCheckpointTest, StepsOfAnotherSizeThanTheColumnsAreRefused) {
  Checkpoint edited = with("chunks/row_bytes", U64{16, 8});
  edited.replace("chunks/steps", Array<std::uint32_t>::copy_of(U32{1, 1}));
  EXPECT_EQ(refusal(edited), "chunks/row_bytes of chunk 0 is 16, but a step with its columns has 8");
}

TEST_F(DamagedCheckpointTest, CountsThatDoNotFitAreRefused) {
  EXPECT_EQ(saved<std::uint64_t>("steps/counts"), (U64{2, 1, 0}));
  EXPECT_EQ(refusal_with("steps/counts", U64{1, 1, 0}), "counts has 1 inserts, but there are 2 items");
  EXPECT_EQ(refusal_with("steps/counts", U64{2, 1, 1}), "counts has 2 inserts and 1 removals, but there are 2 items");
  EXPECT_EQ(refusal_with("steps/counts", U64{2, 0, 0}), "counts has 0 samples, but the sum of times_sampled is 1");
  EXPECT_EQ(refusal_with("steps/counts", U64{2, 7, 0}),
            "counts has 7 samples, but an item is removed when it was sampled 3 times, and there were 2 inserts");
  EXPECT_EQ(refusal_with("steps/counts", U64{~std::uint64_t{0}, 1, 0}),
            "counts has 18446744073709551615 inserts and 1 samples: more than 2^53");
  EXPECT_EQ(refusal_with("steps/counts", U64{3, 1, 0}), "it is taken");  // one was removed by hand
  EXPECT_EQ(table_.info().counts.removals, 1U);
}

TEST(DamagedCountsTest, MoreSamplesThanTheLimitsEverAllowAreRefused) {
  TableOptions options = edited_options();
  options.max_times_sampled = 0;
  Table table(options, 0, kShard, 1, Random(1, "table"));
  Checkpoint saved;
  ChunkList chunks;
  table.save(saved, chunks);
  saved.replace("steps/counts", Array<std::uint64_t>::copy_of(U64{10, 89, 10}));
  try {
    table.load(saved, {});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("89 samples, more than twice as many as the limits of the table allow with 10 inserts"),
              std::string::npos)
        << error.text();
  }
  saved.replace("steps/counts", Array<std::uint64_t>::copy_of(U64{10, 44, 10}));
  table.load(saved, {});
  EXPECT_EQ(table.info().counts.samples, 44U);
}

TEST_F(DamagedCheckpointTest, NumbersOfItemsThatDoNotFitAreRefused) {
  const U64 keys = saved<std::uint64_t>("steps/keys");
  EXPECT_EQ(refusal_with("steps/keys", U64{keys[0]}), "priorities has 2 elements, but keys has 1");
  EXPECT_EQ(refusal_with("steps/keys", U64{keys[0], keys[0]}),
            "the key of item 1 has slot 0, but another item has it too");
  EXPECT_EQ(refusal_with("steps/keys", U64{keys[0], keys[1] + 7}),
            "the key of item 1 has slot 8, but generations has 2 elements");
  EXPECT_EQ(refusal_with("steps/keys", U64{keys[0], keys[1] ^ std::uint64_t{1} << 56}),
            "the key of item 1 has server 4, but this is 5");
  EXPECT_NE(refusal_with("steps/keys", U64{keys[0], keys[1] + (std::uint64_t{1} << 32)}).find("generation"),
            std::string::npos);
  EXPECT_NE(refusal_with("steps/generations", U32{0, 0}).find("the key of item 0 has generation"), std::string::npos);
  EXPECT_EQ(refusal_with("steps/generations", U32{}), "the key of item 0 has slot 0, but generations has 0 elements");
  EXPECT_EQ(refusal_with("steps/priorities", std::vector<double>{1, -1}), "the priority of item 1 is -1.000000");
  EXPECT_EQ(refusal_with("steps/priorities", std::vector<double>{std::nan(""), 1}), "the priority of item 0 is nan");
  EXPECT_EQ(refusal_with("steps/priorities", std::vector<double>{}), "priorities has 0 elements, but keys has 2");
  EXPECT_EQ(refusal_with("steps/times_sampled", U32{3, 0}),
            "times_sampled of item 0 is 3, but an item is removed when it was sampled 3 times");
  EXPECT_EQ(refusal_with("steps/times_sampled", U32{0, 0, 0}), "times_sampled has 3 elements, but keys has 2");
}

TEST_F(DamagedCheckpointTest, NumbersOfPiecesThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal_with("steps/pieces", U32{1}), "pieces has 1 elements, but keys has 2");
  EXPECT_EQ(refusal_with("steps/pieces", U32{2, 0}), "item 1 has no pieces");
  EXPECT_EQ(refusal_with("steps/pieces", U32{2, 1}), "the sum of pieces is 3, but piece_chunks has 2 elements");
  EXPECT_EQ(refusal_with("steps/piece_chunks", U32{0, 2}), "piece_chunks of piece 1 is 2, but there are 2 chunks");
  EXPECT_EQ(refusal_with("steps/piece_chunks", U32{0}), "piece_first has 2 elements, but piece_chunks has 1");
  EXPECT_EQ(refusal_with("steps/piece_steps", U32{0, 1}), "piece_steps of piece 0 is 0");
  EXPECT_EQ(refusal_with("steps/piece_steps", U32{3, 1}),
            "piece_first of piece 0 is 0 and piece_steps is 3, but its chunk has 2 steps");
  EXPECT_EQ(refusal_with("steps/piece_first", U32{0, ~std::uint32_t{0}}),
            "piece_first of piece 1 is 4294967295 and piece_steps is 1, but its chunk has 1 steps");
  EXPECT_EQ(refusal_with("steps/piece_first", U32{0}), "piece_first has 1 elements, but piece_chunks has 2");
  EXPECT_EQ(refusal_with("steps/piece_steps", U32{}), "piece_steps has 0 elements, but piece_chunks has 2");
}

}  // namespace
}  // namespace lp::replay
