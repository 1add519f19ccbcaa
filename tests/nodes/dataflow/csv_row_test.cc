#include "nodes/dataflow/csv_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "tests/error_of.h"

namespace lp {
namespace {

std::vector<std::string> fields_of(std::string_view record) {
  CsvRow row;
  row.parse(record);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < row.size(); ++i) out.emplace_back(row[i]);
  return out;
}

TEST(CsvRowTest, SplitsAsRfc4180) {
  using Fields = std::vector<std::string>;
  EXPECT_EQ(fields_of("a,b,c"), (Fields{"a", "b", "c"}));
  EXPECT_EQ(fields_of(""), Fields{""});
  EXPECT_EQ(fields_of(",,"), (Fields{"", "", ""}));
  EXPECT_EQ(fields_of("\"a,b\",\"\",c"), (Fields{"a,b", "", "c"}));
  EXPECT_EQ(fields_of("\"say \"\"hi\"\"\",\"\"\"\"\"x\""), (Fields{"say \"hi\"", "\"\"x"}));
  EXPECT_EQ(fields_of("a b,\"c\nd\""), (Fields{"a b", "c\nd"}));
}

TEST(CsvRowTest, NamesWhatIsWrong) {
  CsvRow row;
  EXPECT_THROW(row.parse("a,\"b"), Error);
  EXPECT_THROW(row.parse("\"a\"b,c"), Error);
  EXPECT_EQ(
      test::error_of([&] { row.parse("3.5\" floppy,1"); }),
      "a quote stands inside the field \"3.5\\\" floppy\": write the whole field in quotes, and double those inside");
  EXPECT_EQ(
      test::error_of([&] { row.parse("1,a\rb,2"); }),
      "a carriage return stands inside the field \"a\\rb\": end the lines with a line feed, or write the field in "
      "quotes");
  row.parse("a;b");
  EXPECT_EQ(test::error_of([&] { static_cast<void>(row[1]); }),
            "there is no column 1: the row has 1, since it has no \",\": is the separator of the file another one?");
  row.parse("1,x");
  EXPECT_EQ(row.number(0), 1);
  EXPECT_THROW(static_cast<void>(row.number(1)), Error);
  EXPECT_THROW(static_cast<void>(row[2]), Error);
  EXPECT_THROW(row.expect(3), Error);
  row.expect(2);
  row.parse("nan,-inf");
  EXPECT_EQ(test::error_of([&] { static_cast<void>(row.number(0)); }), "column 0 is no number: \"nan\"");
  EXPECT_EQ(row.number(1), -std::numeric_limits<double>::infinity());
  row.parse("+4,+-4,1e400,1e-400,+");
  EXPECT_EQ(row.number(0), 4);
  EXPECT_EQ(test::error_of([&] { static_cast<void>(row.number(1)); }), "column 1 is no number: \"+-4\"");
  for (const std::size_t column : {2U, 3U}) {
    EXPECT_NE(
        test::error_of([&] { static_cast<void>(row.number(column)); }).find("too large or too small for a double"),
        std::string::npos);
  }
  EXPECT_THROW(static_cast<void>(row.number(4)), Error);
}

std::vector<std::size_t> row_ends(std::string_view text, std::size_t piece) {
  std::vector<std::size_t> out;
  dataflow::CsvScanner scanner(',', 0);
  for (std::size_t begin = 0; begin < text.size(); begin += piece) {
    const std::string_view part = text.substr(begin, piece);
    for (std::size_t from = 0; from < part.size(); ++from) {
      from = scanner.row_end(part, from);
      if (from < part.size()) out.push_back(begin + from);
    }
  }
  return out;
}

TEST(CsvRowTest, OnlyAQuoteAtTheBeginOfAFieldHidesLineEnds) {
  const std::string_view text = "a\"b,c\n\"a\n\"\"\n\"\"\",\"\n\"\r\n\"x\"y\"\n,\",\n\",\"\"\n\n\"\"\"\"\nz,\"\n";
  const std::vector<std::size_t> expected{5, 20, 26, 35, 36, 41};
  for (std::size_t piece = 1; piece <= text.size(); ++piece) EXPECT_EQ(row_ends(text, piece), expected) << piece;
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    dataflow::CsvScanner scanner(',', 0);
    scanner.pass(text.substr(0, cut));
    const auto next = std::lower_bound(expected.begin(), expected.end(), cut);
    EXPECT_EQ(cut + scanner.row_end(text.substr(cut), 0), next == expected.end() ? text.size() : *next) << cut;
  }
}

}  // namespace
}  // namespace lp
