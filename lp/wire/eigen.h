#pragma once
// The codecs of Eigen's matrices, vectors and arrays, dense and sparse. Include this header where they are sent. Pure:
// any thread.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include "lp/wire/codec.h"

namespace lp {
namespace wire {

// Reads the rows or columns that a message announces. `fixed` and `most` are the type's own, or Eigen::Dynamic.
inline Eigen::Index read_extent(Reader& reader, Eigen::Index fixed, Eigen::Index most) {
  const auto extent = reader.number<std::int64_t>();
  if (extent < 0) reader.fail("a matrix has a negative size");
  if (fixed != Eigen::Dynamic && extent != fixed) reader.fail("a matrix has a different size than its type");
  if (most != Eigen::Dynamic && extent > most) reader.fail("a matrix is larger than its type allows");
  return extent;
}

inline std::string extent_text(Eigen::Index fixed) { return fixed == Eigen::Dynamic ? "n" : std::to_string(fixed); }

// The format has rows, columns, and the coefficients as an array in the type's own storage order.
template <class Matrix>
struct DenseCodec {
  using Scalar = typename Matrix::Scalar;
  static constexpr Eigen::Index kRows = Matrix::RowsAtCompileTime;
  static constexpr Eigen::Index kCols = Matrix::ColsAtCompileTime;

  static void encode(Writer& writer, const Matrix& matrix) {
    writer.number(std::int64_t{matrix.rows()});
    writer.number(std::int64_t{matrix.cols()});
    writer.array(matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(Scalar));
  }
  static Matrix decode(Reader& reader) {
    const Eigen::Index rows = read_extent(reader, kRows, Matrix::MaxRowsAtCompileTime);
    const Eigen::Index cols = read_extent(reader, kCols, Matrix::MaxColsAtCompileTime);
    Eigen::Index size = 0;
    if (__builtin_mul_overflow(rows, cols, &size))
      reader.fail("a matrix announces more coefficients than there are bytes");
    const std::span<const std::byte> bytes = reader.array(static_cast<std::uint64_t>(size), sizeof(Scalar));
    if constexpr (std::is_same_v<Scalar, bool>) check_bools(reader, bytes);
    Matrix matrix;
    matrix.resize(rows, cols);
    if (!bytes.empty()) std::memcpy(matrix.data(), bytes.data(), bytes.size());
    return matrix;
  }
  using Parts = TypeList<Scalar>;
  static std::string shape() {
    return "matrix " + extent_text(kRows) + " x " + extent_text(kCols) + (Matrix::IsRowMajor ? " by rows" : "");
  }
};

}  // namespace wire

template <class Scalar, int Rows, int Cols, int Options, int MaxRows, int MaxCols>
  requires wire::WireItem<Scalar>
struct Codec<Eigen::Matrix<Scalar, Rows, Cols, Options, MaxRows, MaxCols>>
    : wire::DenseCodec<Eigen::Matrix<Scalar, Rows, Cols, Options, MaxRows, MaxCols>> {
};

template <class Scalar, int Rows, int Cols, int Options, int MaxRows, int MaxCols>
  requires wire::WireItem<Scalar>
struct Codec<Eigen::Array<Scalar, Rows, Cols, Options, MaxRows, MaxCols>>
    : wire::DenseCodec<Eigen::Array<Scalar, Rows, Cols, Options, MaxRows, MaxCols>> {
};

// The format is compressed storage: rows, columns, number of coefficients, the start of each column, the row of each
// coefficient, and the coefficients. Rows rise within a column. A matrix stored by rows exchanges rows and columns.
template <class Scalar, int Options, class StorageIndex>
  requires wire::Plain<Scalar>
struct Codec<Eigen::SparseMatrix<Scalar, Options, StorageIndex>> {
  using Matrix = Eigen::SparseMatrix<Scalar, Options, StorageIndex>;

  static void encode(Writer& writer, const Matrix& matrix) {
    if (!matrix.isCompressed()) {
      Matrix compressed = matrix;
      compressed.makeCompressed();
      return encode(writer, compressed);
    }
    const auto count = static_cast<std::size_t>(matrix.nonZeros());
    writer.number(std::int64_t{matrix.rows()});
    writer.number(std::int64_t{matrix.cols()});
    writer.count(count);
    writer.array(matrix.outerIndexPtr(), (static_cast<std::size_t>(matrix.outerSize()) + 1) * sizeof(StorageIndex));
    writer.array(matrix.innerIndexPtr(), count * sizeof(StorageIndex));
    writer.array(matrix.valuePtr(), count * sizeof(Scalar));
  }

  static Matrix decode(Reader& reader) {
    const Eigen::Index rows = wire::read_extent(reader, Eigen::Dynamic, kMost);
    const Eigen::Index cols = wire::read_extent(reader, Eigen::Dynamic, kMost);
    const auto count = reader.number<std::uint64_t>();
    const auto outer_size = static_cast<std::uint64_t>(Matrix::IsRowMajor ? rows : cols);
    const auto starts = reader.array(outer_size + 1, sizeof(StorageIndex));
    const auto inner = reader.array(count, sizeof(StorageIndex));
    const auto values = reader.array(count, sizeof(Scalar));
    Matrix matrix(rows, cols);
    matrix.resizeNonZeros(static_cast<Eigen::Index>(count));
    std::memcpy(matrix.outerIndexPtr(), starts.data(), starts.size());
    if (count > 0) std::memcpy(matrix.innerIndexPtr(), inner.data(), inner.size());
    if (count > 0) std::memcpy(matrix.valuePtr(), values.data(), values.size());
    check(reader, matrix, count);
    return matrix;
  }
  using Parts = TypeList<Scalar, StorageIndex>;
  static std::string shape() { return Matrix::IsRowMajor ? "sparse matrix by rows" : "sparse matrix"; }

 private:
  static constexpr Eigen::Index kMost = static_cast<Eigen::Index>(
      std::min<std::uintmax_t>(std::numeric_limits<StorageIndex>::max(), std::numeric_limits<Eigen::Index>::max() - 1));

  static void check(const Reader& reader, const Matrix& matrix, std::uint64_t count) {
    const StorageIndex* starts = matrix.outerIndexPtr();
    const StorageIndex* inner = matrix.innerIndexPtr();
    if (starts[0] != 0 || static_cast<std::uint64_t>(starts[matrix.outerSize()]) != count) {
      reader.fail("a sparse matrix has a different number of coefficients than it announces");
    }
    for (Eigen::Index i = 0; i < matrix.outerSize(); ++i) {
      if (starts[i] > starts[i + 1]) reader.fail("the columns of a sparse matrix are out of order");
    }
    for (Eigen::Index i = 0; i < matrix.outerSize(); ++i) {
      for (StorageIndex k = starts[i]; k < starts[i + 1]; ++k) {
        if (inner[k] < 0 || inner[k] >= matrix.innerSize()) reader.fail("a sparse matrix has an index out of range");
        if (k > starts[i] && inner[k - 1] >= inner[k]) reader.fail("the indices of a sparse matrix do not ascend");
      }
    }
  }
};

}  // namespace lp
