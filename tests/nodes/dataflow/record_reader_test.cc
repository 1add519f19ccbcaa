#include "nodes/dataflow/record_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "lp/base/error.h"
#include "tests/directory.h"
#include "tests/error_of.h"
#include "tests/nodes/dataflow/files_for_test.h"

namespace lp {
namespace {

// Reads past the records that are too long, and returns the others.
std::vector<std::string> with_long_ones(const InputOptions& options, std::vector<std::uint64_t>& refused) {
  std::vector<std::string> out;
  dataflow::RecordReader reader(split_file(options.paths[0], options).at(0), options);
  for (std::string_view record;;) {
    try {
      if (!reader.next(record)) return out;
      out.emplace_back(record);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("longest_record"), std::string::npos);
      refused.push_back(reader.offset());
    }
  }
}

TEST(RecordReaderTest, ARecordThatIsTooLongIsRefusedAndTheNextOneIsRead) {
  const test::Directory directory;
  const std::string large(std::size_t{2} << 20, 'x');
  InputOptions options{.paths = {test::write(directory.path() / "lines", "a\n" + large + "\nb\n" + large)},
                       .longest_record = 1 << 20};
  std::vector<std::uint64_t> refused;
  EXPECT_EQ(with_long_ones(options, refused), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(refused, (std::vector<std::uint64_t>{2, 5 + large.size()}));
  options.paths = {test::write(directory.path() / "records", test::prefixed({"a", large, "b"}))};
  options.format = InputFormat::length_prefixed;
  refused.clear();
  EXPECT_EQ(with_long_ones(options, refused), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(refused, std::vector<std::uint64_t>{5});
  options.paths = {test::write(directory.path() / "rows", "a,\"" + large + "\n\"\nb,c\n")};
  options.format = InputFormat::csv;
  options.header = false;
  dataflow::RecordReader reader(
      {.path = options.paths[0], .begin = 0, .end = large.size() + 10, .file_size = large.size() + 10}, options);
  std::string_view record;
  EXPECT_THROW(reader.next(record), Error);
  EXPECT_TRUE(reader.next(record));
  EXPECT_EQ(record, "b,c");
}

TEST(RecordReaderTest, ARecordOfTheLongestSizeIsReadAndOneOfAByteMoreIsNot) {
  const test::Directory directory;
  const std::string fits(100, 'f'), longer(101, 'l');
  InputOptions options{
      .paths = {test::write(directory.path() / "lines", fits + "\n" + longer + "\n" + fits + "\n" + longer)},
      .longest_record = 100};
  for (const InputFormat format : {InputFormat::lines, InputFormat::csv}) {
    options.format = format;
    options.header = false;
    std::vector<std::uint64_t> refused;
    EXPECT_EQ(with_long_ones(options, refused), (std::vector{fits, fits}));
    EXPECT_EQ(refused, (std::vector<std::uint64_t>{101, 304}));
  }
}

TEST(RecordReaderTest, AFileThatWasReplacedIsRefusedAndOneThatHasGrownIsNot) {
  const test::Directory directory;
  const InputOptions options{.paths = {test::write(directory.path() / "lines", "a\nb\n")}};
  const InputSplit split = split_file(options.paths[0], options).at(0);
  std::ofstream(options.paths[0], std::ios::app) << "c\n";
  dataflow::RecordReader reader(split, options);
  std::string_view record;
  EXPECT_TRUE(reader.next(record) && reader.next(record));
  EXPECT_EQ(record, "b");
  EXPECT_FALSE(reader.next(record));
  std::filesystem::rename(test::write(directory.path() / "other", "d\ne\n"), options.paths[0]);
  EXPECT_EQ(test::error_of([&] { dataflow::RecordReader(split, options); }),
            options.paths[0] + " was replaced after it was split: do not change inputs");
}

TEST(RecordReaderTest, AChangedLengthIsRefusedAndEndsTheReading) {
  const test::Directory directory;
  for (const std::string& changed : {std::string("d\0\0\0aa", 6), std::string(4, '\xff') + "aa"}) {
    InputOptions options{.paths = {test::write(directory.path() / "records", test::prefixed({"aa", "b"}))}};
    options.format = InputFormat::length_prefixed;
    InputSplit split = split_file(options.paths[0], options).at(0);
    split.file = {};  // it is on another host, which shows no change
    test::write(options.paths[0], changed + test::prefixed({"b"}));
    dataflow::RecordReader reader(split, options);
    std::string_view record;
    EXPECT_THROW(reader.next(record), dataflow::RecordError);
    EXPECT_EQ(reader.offset(), 0U);
    EXPECT_FALSE(reader.next(record));
  }
}

TEST(RecordReaderTest, AFileThatHasShrunkIsNamed) {
  const test::Directory directory;
  const InputOptions options{.paths = {test::write(directory.path() / "lines", "one\ntwo\n")}};
  const InputSplit split = split_file(options.paths[0], options).at(0);
  std::filesystem::resize_file(options.paths[0], 5);
  try {
    dataflow::RecordReader reader(split, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("has 5 bytes, and had 8 when it was split"), std::string::npos);
  }
}

TEST(RecordReaderTest, AFileThatIsGoneIsNamed) {
  const test::Directory directory;
  const InputOptions options{.paths = {test::write(directory.path() / "lines", "one\n")}};
  const InputSplit split = split_file(options.paths[0], options).at(0);
  std::filesystem::remove(options.paths[0]);
  try {
    dataflow::RecordReader reader(split, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("lines cannot be read: No such file"), std::string::npos);
  }
}

}  // namespace
}  // namespace lp
