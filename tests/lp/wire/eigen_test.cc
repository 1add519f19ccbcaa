#include "lp/wire/eigen.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "lp/base/error.h"
#include "tests/lp/wire/round_trip.h"

namespace lp {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Sparse = Eigen::SparseMatrix<float>;
using SparseByRows = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t>;

template <class Matrix>
void expect_same(const Matrix& matrix) {
  const Matrix back = round_trip(matrix);
  ASSERT_EQ(back.rows(), matrix.rows());
  ASSERT_EQ(back.cols(), matrix.cols());
  EXPECT_TRUE((back.array() == matrix.array()).all());
}

TEST(Eigen, DenseOfEverySize) {
  expect_same<Eigen::MatrixXf>(Eigen::MatrixXf::Random(3, 4));
  expect_same<Eigen::MatrixXf>(Eigen::MatrixXf::Random(100, 200));
  expect_same<Eigen::MatrixXf>(Eigen::MatrixXf(0, 7));
  expect_same<Eigen::MatrixXf>(Eigen::MatrixXf(7, 0));
  expect_same<Eigen::MatrixXf>(Eigen::MatrixXf());
  expect_same<RowMajor>(RowMajor::Random(3, 4));
  expect_same<Eigen::Matrix4d>(Eigen::Matrix4d::Random());
  expect_same<Eigen::Vector2i>(Eigen::Vector2i(3, 4));
  expect_same<Eigen::RowVectorXd>(Eigen::RowVectorXd::Random(9));
  expect_same<Eigen::Matrix3Xf>(Eigen::Matrix3Xf::Random(3, 5));
  expect_same<Eigen::ArrayXXi>(Eigen::ArrayXXi::Random(5, 6));
  expect_same<Eigen::Array<bool, Eigen::Dynamic, 1>>(Eigen::Array<bool, Eigen::Dynamic, 1>::Constant(9, true));
  expect_same<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, 0, 4, 4>>(
      Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, 0, 4, 4>::Random(3, 2));
}

TEST(Eigen, DenseIsAFrameWhenItIsBig) {
  EXPECT_EQ(encoded(Eigen::MatrixXf(Eigen::MatrixXf::Zero(10, 10))).arrays.size(), 0u);
  EXPECT_EQ(encoded(Eigen::MatrixXf(Eigen::MatrixXf::Zero(100, 100))).arrays.size(), 1u);
}

template <class Matrix>
void expect_refused(std::int64_t rows, std::int64_t cols) {
  Writer writer;
  writer.number(rows);
  writer.number(cols);
  for (int i = 0; i < 4; ++i) writer.number(1.0f);
  const Message frames = writer.take();
  EXPECT_THROW(decoded<Matrix>(frames), Error) << rows << " x " << cols;
}

TEST(Eigen, SizesThatDoNotFitAreRefused) {
  expect_refused<Eigen::MatrixXf>(-2, -2);
  expect_refused<Eigen::MatrixXf>(1, 5);
  expect_refused<Eigen::MatrixXf>(std::int64_t{1} << 32, std::int64_t{1} << 32);
  expect_refused<Eigen::MatrixXf>(std::int64_t{1} << 62, 2);
  expect_refused<Eigen::MatrixXf>(std::int64_t{1} << 31, 1);
  expect_refused<Eigen::Matrix2f>(1, 4);
  expect_refused<Eigen::VectorXf>(2, 2);
  expect_refused<Eigen::Matrix<float, Eigen::Dynamic, 2, Eigen::RowMajor, 1, 2>>(2, 2);
}

TEST(Eigen, NoRowsAndAnyNumberOfColumns) {
  Writer writer;
  writer.number(std::int64_t{0});
  writer.number(std::int64_t{1} << 62);
  const Eigen::MatrixXf matrix = decoded<Eigen::MatrixXf>(writer.take());
  EXPECT_EQ(matrix.cols(), std::int64_t{1} << 62);
  EXPECT_EQ(matrix.size(), 0);
}

template <class Matrix>
void expect_same_sparse(const Matrix& matrix) {
  const Matrix back = round_trip(matrix);
  ASSERT_EQ(back.rows(), matrix.rows());
  ASSERT_EQ(back.cols(), matrix.cols());
  EXPECT_EQ(back.nonZeros(), matrix.nonZeros());
  EXPECT_TRUE(back.isApprox(matrix));
}

TEST(Eigen, Sparse) {
  Sparse matrix(5, 7);
  expect_same_sparse(matrix);
  matrix.insert(4, 0) = 1;
  matrix.insert(2, 6) = 2;
  matrix.insert(0, 6) = 3;  // not compressed
  expect_same_sparse(matrix);
  SparseByRows by_rows = matrix.cast<double>().cast<double>();
  expect_same_sparse(by_rows);
  EXPECT_EQ(round_trip(Sparse()).rows(), 0);
  EXPECT_EQ(round_trip(Sparse(0, 9)).cols(), 9);
  EXPECT_EQ(round_trip(Sparse(9, 0)).rows(), 9);
}

// A 3 x 2 matrix with two coefficients.
Message sparse(std::int64_t rows, std::int64_t cols, std::uint64_t count, std::vector<int> starts,
               std::vector<int> inner) {
  Writer writer;
  writer.number(rows);
  writer.number(cols);
  writer.number(count);
  for (const int start : starts) writer.number(start);
  for (const int row : inner) writer.number(row);
  for (std::size_t i = 0; i < inner.size(); ++i) writer.number(1.0f);
  return writer.take();
}

TEST(Eigen, SparseWithWrongIndicesIsRefused) {
  EXPECT_NO_THROW(decoded<Sparse>(sparse(3, 2, 2, {0, 1, 2}, {0, 2})));
  EXPECT_NO_THROW(decoded<Sparse>(sparse(3, 2, 2, {0, 2, 2}, {0, 2})));
  EXPECT_THROW(decoded<Sparse>(sparse(3, 2, 2, {0, 1, 2}, {0, 3})), Error);   // out of range
  EXPECT_THROW(decoded<Sparse>(sparse(3, 2, 2, {0, 1, 2}, {-1, 0})), Error);  // negative
  EXPECT_THROW(decoded<Sparse>(sparse(3, 2, 2, {0, 2, 2}, {2, 0})), Error);   // falling
  EXPECT_THROW(decoded<Sparse>(sparse(3, 2, 2, {0, 2, 2}, {1, 1})), Error);   // twice
  EXPECT_THROW(decoded<Sparse>(sparse(3, 2, 2, {0, 1, 1}, {0, 2})), Error);   // fewer than claimed
  EXPECT_THROW(decoded<Sparse>(sparse(3, 2, 2, {1, 1, 2}, {0, 2})), Error);   // does not begin at 0
  EXPECT_THROW(decoded<Sparse>(sparse(3, 2, 2, {0, 9, 2}, {0, 2})), Error);   // beyond the end
  EXPECT_THROW(decoded<Sparse>(sparse(3, 2, 2, {0, -5, 2}, {0, 2})), Error);  // before the beginning
  EXPECT_THROW(decoded<Sparse>(sparse(-3, 2, 2, {0, 1, 2}, {0, 2})), Error);
  EXPECT_THROW(decoded<Sparse>(sparse(3, std::int64_t{1} << 40, 0, {0}, {})), Error);
  EXPECT_THROW(decoded<Sparse>(sparse(std::int64_t{1} << 31, 0, 0, {0}, {})), Error);
  EXPECT_THROW(decoded<Sparse>(sparse(3, 0, std::uint64_t{1} << 60, {0}, {})), Error);
  EXPECT_THROW(decoded<SparseByRows>(sparse(INT64_MAX, 1, 0, {0}, {})), Error);
}

}  // namespace
}  // namespace lp
