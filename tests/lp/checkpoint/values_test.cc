#include "lp/checkpoint/values.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/wire/eigen.h"

namespace lp {
namespace {

TEST(CheckpointValues, ArraysAndNumbersAreLines) {
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

TEST(CheckpointValues, MatricesAreRowsInEitherOrder) {
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

TEST(CheckpointValues, RawBytesAreTheNumbers) {
  Checkpoint checkpoint;
  Array<float> weights(5000);
  weights.edit()[4999] = 7;
  checkpoint.put("weights", weights);
  const StoredNumbers numbers = numbers_of(checkpoint, "weights");
  EXPECT_EQ(numbers.scalar, "f32");
  EXPECT_EQ(numbers.rows, 5000u);
  EXPECT_EQ(numbers.bytes.data(), weights.buffer().data());  // shared
}

TEST(CheckpointValues, NumpyReadsTheHeadOfAFile) {
  Checkpoint checkpoint;
  checkpoint.put("number", 1.5);
  checkpoint.put("flags", Array<bool>(3));
  checkpoint.put("counts", std::vector<std::uint64_t>{1});
  checkpoint.put("by columns", Eigen::MatrixXd(2, 3));
  checkpoint.put("by rows", Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>(0, 7));
  for (const auto& [name, dictionary] : std::vector<std::pair<const char*, std::string>>{
           {"number", "{'descr': '<f8', 'fortran_order': False, 'shape': (), }"},
           {"flags", "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }"},
           {"counts", "{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }"},
           {"by columns", "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }"},
           {"by rows", "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 7), }"}}) {
    const std::string head = npy_head(numbers_of(checkpoint, name));
    EXPECT_EQ(head.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    EXPECT_EQ(head.size(), 10U + static_cast<unsigned char>(head[8]) + 256U * static_cast<unsigned char>(head[9]));
    EXPECT_EQ(head.size() % 64, 0U);
    EXPECT_EQ(head.substr(10, dictionary.size()), dictionary);
    EXPECT_EQ(head.find_first_not_of(' ', 10 + dictionary.size()), head.size() - 1);
    EXPECT_EQ(head.back(), '\n');
  }
}

TEST(CheckpointValues, AnotherTypeIsNamed) {
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
