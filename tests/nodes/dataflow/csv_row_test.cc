#include "nodes/dataflow/csv_row.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lp/base/error.h"

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
  row.parse("1,x");
  EXPECT_EQ(row.number(0), 1);
  EXPECT_THROW(static_cast<void>(row.number(1)), Error);
  EXPECT_THROW(static_cast<void>(row[2]), Error);
  EXPECT_THROW(row.expect(3), Error);
  row.expect(2);
}

}  // namespace
}  // namespace lp
