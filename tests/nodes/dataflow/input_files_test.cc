#include "nodes/dataflow/input_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "tests/directory.h"
#include "tests/error_of.h"
#include "tests/nodes/dataflow/files_for_test.h"

namespace lp {
namespace {

std::string failure_of(const std::vector<std::string>& paths) {
  try {
    find_inputs(paths);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(InputFilesTest, FindsFilesDirectoriesAndGlobsOnce) {
  const test::Directory directory;
  const std::string a = test::write(directory.path() / "a.txt", "1");
  const std::string b = test::write(directory.path() / "below" / "b.txt", "2");
  test::write(directory.path() / ".hidden", "3");
  test::write(directory.path() / "below" / "_temporary", "4");
  test::write(directory.path() / ".folder" / "c.txt", "5");
  EXPECT_EQ(find_inputs({directory.path().string()}), (std::vector{a, b}));
  EXPECT_EQ(find_inputs({(directory.path() / "*.txt").string(), a}), std::vector{a});
  EXPECT_EQ(find_inputs({(directory.path() / "{a,x}.txt").string(), b}), (std::vector{a, b}));
}

// The check of results understands every path as the search for inputs does: it refuses a directory if, and only if, a
// file in it would be found.
TEST(InputFilesTest, ADirectoryIsInTheInputIfItsFilesAreFound) {
  const std::vector<std::string> folders = {"a", "b/c", "b/.d", "b/_e", "in1/x", "in2/x", "{a,b}", "in,", "to/link/x"};
  const std::vector<std::string> patterns = {
      "a",        "b",  "{a,b}", "{in{1,2},b}/*", "in{1,3}/x",   "{a/,b/c}",  "b/{c,_e}", "b/{c,.d}/*",
      "{}/x",     "{a", "a}",    "\\{a,b}",       "{a,b/{c,d}}", "in{\\,,3}", "l*k/*",    "in[12]/*",
      "{,in1/}x", "?",  "*",     "{*,a}/x",       "[b]/{[c]}",   "in{1}/x"};
  for (const std::string& folder : folders) {
    const test::Directory directory;
    const std::filesystem::path path = directory.path() / folder;
    const std::string file = test::write(path / "file", "1");
    if (folder.starts_with("to/")) std::filesystem::create_symlink("to/link", directory.path() / "link");
    for (const std::string& pattern : patterns) {
      const std::string input = (directory.path() / pattern).string();
      std::vector<UnreadableInput> unreadable;
      bool found = false;
      for (const std::string& one : find_readable_inputs({input}, unreadable).files) {
        found = found || std::filesystem::equivalent(one, file);
      }
      EXPECT_EQ(!input_around({input}, path).empty(), found) << pattern << " and " << folder;
    }
  }
}

TEST(InputFilesTest, ADirectoryThatIsToBeMadeMayBeInTheInput) {
  const test::Directory directory;
  const auto around = [&](const std::string& pattern, const std::string& folder) {
    return !input_around({(directory.path() / pattern).string()}, directory.path() / folder).empty();
  };
  EXPECT_TRUE(around("{logs,old}", "logs"));
  EXPECT_TRUE(around("{logs,old}", "old/results"));
  EXPECT_TRUE(around("{logs/*,old/{a,b}}/x", "old/b/x/results"));
  EXPECT_TRUE(around("{logs,old}/part-*", "old"));
  EXPECT_FALSE(around("{logs,old}", "log"));
  EXPECT_FALSE(around("{logs,old}", "old/_results"));
  EXPECT_FALSE(around("{logs,old", "old"));
  EXPECT_FALSE(around("{logs,old}/*.txt", "old"));
}

TEST(InputFilesTest, AFileWithSeveralNamesIsThereOnce) {
  const test::Directory directory;
  const std::string b = test::write(directory.path() / "b", "1");
  std::filesystem::create_symlink("b", directory.path() / "c");
  EXPECT_EQ(find_inputs({directory.path().string()}), std::vector{b});
  const std::string a = (directory.path() / "a").string();
  std::filesystem::create_hard_link(b, a);
  EXPECT_EQ(find_inputs({(directory.path() / "*").string()}), std::vector{a});
  EXPECT_EQ(find_inputs({b, (directory.path() / "." / "b").string()}).size(), 1U);
}

TEST(InputFilesTest, WhatCannotBeReadIsNamedAndTheOthersAreFound) {
  const test::Directory directory;
  const std::string a = test::write(directory.path() / "a", "1");
  const std::string loop = (directory.path() / "below" / "loop").string();
  std::filesystem::create_directory(directory.path() / "below");
  std::filesystem::create_symlink("loop", loop);
  const std::string z = test::write(directory.path() / "z", "2");
  EXPECT_NE(failure_of({directory.path().string()}).find("an input cannot be read: " + loop + ": "), std::string::npos);
  std::vector<UnreadableInput> unreadable;
  EXPECT_EQ(find_readable_inputs({directory.path().string()}, unreadable).files, (std::vector{a, z}));
  ASSERT_EQ(unreadable.size(), 1U);
  EXPECT_EQ(unreadable[0].path, loop);
}

TEST(InputFilesTest, ALinkOfADirectoryThatLeadsToNoFileIsAMissingInput) {
  const test::Directory directory;
  const std::string a = test::write(directory.path() / "a", "1");
  const std::string lost = (directory.path() / "lost").string();
  std::filesystem::create_symlink("nothing", lost);
  EXPECT_EQ(find_inputs({directory.path().string()}), (std::vector{a, lost}));
  std::vector<UnreadableInput> unreadable;
  EXPECT_EQ(find_readable_inputs({directory.path().string()}, unreadable).files, std::vector{a});
  EXPECT_TRUE(unreadable.empty());
}

TEST(InputFilesTest, NamesWhatMatchesNothing) {
  const test::Directory directory;
  EXPECT_NE(failure_of({(directory.path() / "*.csv").string()}).find("no input matches"), std::string::npos);
  EXPECT_NE(failure_of({}).find("no input is given"), std::string::npos);
}

// Whatever the size of the splits, each record is read once, whole and in order.
void expect_same_records(InputOptions options, const std::vector<std::string>& expected) {
  for (const std::uint64_t bytes : {1U, 2U, 3U, 7U, 64U, 1000U, 1000000U}) {
    options.split_bytes = bytes;
    EXPECT_EQ(test::all_records(options), expected) << "splits of " << bytes;
  }
}

TEST(InputFilesTest, LinesAreInOneSplitEach) {
  const test::Directory directory;
  const std::string path = test::write(directory.path() / "lines", "one\n\ntwo\r\n\n\nthree and more\nlast");
  expect_same_records({.paths = {path}}, {"one", "", "two\r", "", "", "three and more", "last"});
  const std::string ended = test::write(directory.path() / "ended", "one\ntwo\n");
  expect_same_records({.paths = {ended}}, {"one", "two"});
}

TEST(InputFilesTest, RowsMayHaveLineEndsInQuotes) {
  const test::Directory directory;
  const std::string path =
      test::write(directory.path() / "rows.csv", "name,text\na,\"one\ntwo\"\r\nb,\"say \"\"\n\"\" twice\"\nc,d");
  const std::vector<std::string> rows{"a,\"one\ntwo\"", "b,\"say \"\"\n\"\" twice\"", "c,d"};
  expect_same_records({.paths = {path}, .format = InputFormat::csv}, rows);
  std::vector<std::string> all{"name,text"};
  all.insert(all.end(), rows.begin(), rows.end());
  expect_same_records({.paths = {path}, .format = InputFormat::csv, .header = false}, all);
}

TEST(InputFilesTest, AQuoteInsideAFieldHidesNoLineEnd) {
  const test::Directory directory;
  const std::string path = test::write(directory.path() / "rows.csv",
                                       "disk,count\n3.5\" floppy,1\n\"a\nb\"c\",2\nd,\"3\n,4\"\r\n5\",6\ne,7\n");
  expect_same_records({.paths = {path}, .format = InputFormat::csv},
                      {"3.5\" floppy,1", "\"a\nb\"c\",2", "d,\"3\n,4\"", "5\",6", "e,7"});
}

std::string first_row_error(const std::string& text) {
  const test::Directory directory;
  const std::string path = test::write(directory.path() / "rows.csv", text);
  return test::error_of([&] { split_inputs({.paths = {path}, .format = InputFormat::csv, .longest_record = 1000}); });
}

TEST(InputFilesTest, AFirstRowThatSwallowsItsFileIsRefused) {
  EXPECT_NE(first_row_error("size (in\"),v\na,1\n").find("cannot be read: a quote stands inside the field"),
            std::string::npos);
  EXPECT_NE(first_row_error("k,v\ra,1\rb,2\r").find("a carriage return stands inside the field \"v\\ra\""),
            std::string::npos);
  EXPECT_NE(first_row_error("k,\"v\na,1\n").find("the quote at byte 2 begins a field that has no closing quote"),
            std::string::npos);
  EXPECT_NE(
      first_row_error("\"" + std::string(dataflow::RecordReader::kBlockBytes, 'x')).find("longer than 1000 bytes"),
      std::string::npos);
}

TEST(InputFilesTest, LengthPrefixedRecordsMayHaveAnyBytes) {
  const test::Directory directory;
  const std::vector<std::string> records{"", std::string("\0\n\xff", 3), std::string(5000, 'x'), "end"};
  const std::string path = test::write(directory.path() / "records", test::prefixed(records));
  expect_same_records({.paths = {path}, .format = InputFormat::length_prefixed}, records);
}

TEST(InputFilesTest, ALengthThatPointsBehindTheFileIsNamed) {
  const test::Directory directory;
  const std::string whole = test::prefixed({"first", "second"});
  const std::string path = test::write(directory.path() / "records", whole.substr(0, whole.size() - 1));
  try {
    split_inputs({.paths = {path}, .format = InputFormat::length_prefixed});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the record at byte 9, of 6 bytes, is cut off"), std::string::npos);
  }
}

TEST(InputFilesTest, RecordsThatAreLargerThanABlockAreWhole) {
  const test::Directory directory;
  std::vector<std::string> records;
  std::string text;
  Random random(1, "records", 0);
  for (int i = 0; i < 20; ++i) {
    records.emplace_back(random.below(std::uint64_t{4} * dataflow::RecordReader::kBlockBytes), 'a' + i % 26);
    text += records.back() + "\n";
  }
  const std::string path = test::write(directory.path() / "large", text);
  EXPECT_EQ(test::all_records({.paths = {path}}), records);
  EXPECT_EQ(test::all_records({.paths = {path}, .split_bytes = 100'000}), records);
  const std::string lengths = test::write(directory.path() / "lengths", test::prefixed(records));
  EXPECT_EQ(test::all_records({.paths = {lengths}, .format = InputFormat::length_prefixed, .split_bytes = 100'000}),
            records);
}

TEST(InputFilesTest, AFileThatHasNoSizeIsRefusedAndAnEmptyOneIsNot) {
  EXPECT_NE(test::error_of([] { split_inputs({.paths = {"/proc/self/status"}}); }).find("has bytes, but no size"),
            std::string::npos);
  const test::Directory directory;
  EXPECT_TRUE(split_inputs({.paths = {test::write(directory.path() / "empty", "")}}).empty());
}

TEST(InputFilesTest, SmallFilesShareATaskAndEmptyOnesHaveNone) {
  const test::Directory directory;
  for (int i = 0; i < 10; ++i) test::write(directory.path() / std::to_string(i), i % 2 == 0 ? "" : "12345\n");
  const std::vector<InputTask> tasks = split_inputs({.paths = {directory.path().string()}, .split_bytes = 13});
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks[0].splits.size(), 2U);
  EXPECT_EQ(tasks[2].splits.size(), 1U);
}

TEST(InputFilesTest, NoLineIsInTwoSamples) {
  const test::Directory directory;
  const std::string line = std::string(1 << 20, 'x') + "\n";
  const std::string text = "first\n" + line + "second\n" + line + line;
  std::uint64_t end = 0;
  for (const InputTask& task : sample_inputs({.paths = {test::write(directory.path() / "lines", text)}})) {
    for (const InputSplit& one : task.splits) {
      EXPECT_GE(one.begin, end);
      end = one.end;
    }
  }
  EXPECT_EQ(end, text.size());
}

TEST(InputFilesTest, SamplesAreWholeRecordsFromAllOverTheInput) {
  const test::Directory directory;
  std::string text;
  for (int i = 0; i < 2'000'000; ++i) text += std::to_string(10'000'000 + i) + "\n";
  const InputOptions options{.paths = {test::write(directory.path() / "numbers", text)}};
  std::vector<InputSplit> splits;
  for (const InputTask& task : sample_inputs(options)) {
    EXPECT_LE(task.splits.size(), 32U);
    splits.insert(splits.end(), task.splits.begin(), task.splits.end());
  }
  std::uint64_t before = 0;
  std::uint64_t last = 0;
  for (const InputSplit& split : splits) {
    EXPECT_GE(split.begin, before);
    before = split.end;
    dataflow::RecordReader reader(split, options);
    for (std::string_view record; reader.next(record); last = std::stoull(std::string(record))) {
      ASSERT_EQ(record.size(), 8U);
    }
  }
  EXPECT_GT(splits.size(), 100U);
  EXPECT_GT(last, 11'900'000U);
}

}  // namespace
}  // namespace lp
