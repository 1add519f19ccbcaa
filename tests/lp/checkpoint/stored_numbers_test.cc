#include "lp/checkpoint/stored_numbers.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/wire/eigen.h"

namespace lp {
namespace {

TEST(StoredNumbersTest, ArraysAndNumbersAreLines) {
  Checkpoint checkpoint;
  checkpoint.put("array", std::vector<float>{1, 0.1f, -2.5e-10f});
  checkpoint.put("number", std::uint64_t{18'446'744'073'709'551'615u});
  checkpoint.put("small", std::vector<std::int8_t>{-1, 2});
  checkpoint.put("empty", std::vector<double>{});
  EXPECT_EQ(to_csv(numbers_of(checkpoint, "array")), "1\n0.1\n-2.5e-10\n");
  EXPECT_EQ(to_csv(numbers_of(checkpoint, "number")), "18446744073709551615\n");
  EXPECT_EQ(to_csv(numbers_of(checkpoint, "small")), "-1\n2\n");
  EXPECT_EQ(to_csv(numbers_of(checkpoint, "empty")), "");
}

TEST(StoredNumbersTest, MatricesAreRowsInEitherOrder) {
  Eigen::MatrixXd by_columns(2, 3);
  by_columns << 1, 2, 3, 4, 5, 6;
  const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> by_rows = by_columns.cast<float>();
  Checkpoint checkpoint;
  checkpoint.put("by columns", by_columns);
  checkpoint.put("by rows", by_rows);
  checkpoint.put("empty", Eigen::MatrixXd(0, 7));
  EXPECT_EQ(to_csv(numbers_of(checkpoint, "by columns")), "1,2,3\n4,5,6\n");
  EXPECT_EQ(to_csv(numbers_of(checkpoint, "by rows")), "1,2,3\n4,5,6\n");
  EXPECT_EQ(to_csv(numbers_of(checkpoint, "empty")), "");
}

TEST(StoredNumbersTest, RawBytesAreTheNumbers) {
  Checkpoint checkpoint;
  Array<float> weights(5000);
  weights.edit()[4999] = 7;
  checkpoint.put("weights", weights);
  const StoredNumbers numbers = numbers_of(checkpoint, "weights");
  EXPECT_EQ(numbers.scalar, "f32");
  EXPECT_EQ(numbers.rows, 5000u);
  EXPECT_EQ(numbers.bytes.data(), weights.buffer().data());  // shared
}

TEST(StoredNumbersTest, ReplacedNumbersAreReadInTheirType) {
  using ByRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::MatrixXf matrix(2, 3);
  matrix << 1, 2, 3, 4, 5, 6;
  Checkpoint from;
  from.put("array", Array<float>(5000));
  from.put("number", 2.5);
  from.put("matrix", matrix);
  Checkpoint to;
  to.put("array", std::vector<float>{1});
  to.put("number", 1.5);
  to.put("matrix", ByRows(ByRows::Zero(2, 3)));
  for (const char* name : {"array", "number", "matrix"}) replace_numbers(to, name, numbers_of(from, name));
  EXPECT_EQ(to.get<std::vector<float>>("array"), std::vector<float>(5000));
  EXPECT_EQ(to.get<double>("number"), 2.5);
  EXPECT_EQ(to.get<ByRows>("matrix"), matrix);
  replace_numbers(from, "matrix", numbers_of(to, "matrix"));
  EXPECT_EQ(from.get<Eigen::MatrixXf>("matrix"), matrix);
}

TEST(StoredNumbersTest, NumbersThatDoNotFitReplaceNothing) {
  Checkpoint checkpoint;
  checkpoint.put("counts", std::vector<std::uint64_t>{1, 2});
  checkpoint.put("number", std::uint64_t{3});
  checkpoint.put("weights", Eigen::MatrixXf(2, 3));
  checkpoint.put("wide", Eigen::MatrixXf(3, 2));
  checkpoint.put("rates", std::vector<double>{1, 2});
  for (const auto& [name, other] : std::vector<std::pair<const char*, const char*>>{
           {"counts", "rates"}, {"counts", "number"}, {"number", "counts"}, {"weights", "wide"}}) {
    EXPECT_THROW(replace_numbers(checkpoint, name, numbers_of(checkpoint, other)), Error) << name << " by " << other;
  }
  EXPECT_EQ(to_csv(numbers_of(checkpoint, "counts")), "1\n2\n");
}

TEST(StoredNumbersTest, AnotherTypeIsNamed) {
  Checkpoint checkpoint;
  checkpoint.put("names", std::vector<std::string>{"a"});
  try {
    numbers_of(checkpoint, "names");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(), "checkpoint: \"names\" is not a number, array or matrix, but list<string>");
  }
  EXPECT_THROW(numbers_of(checkpoint, "missing"), Error);
}

}  // namespace
}  // namespace lp
