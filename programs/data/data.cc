#include "programs/data/data.h"

#include <charconv>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"

namespace lp {

namespace internal {
extern const std::string_view kDigitsCsv;  // data/digits.csv
}

std::vector<std::string> signs() { return {"-1", "1"}; }

Dataset digits() {
  constexpr Eigen::Index kPixels = 64;
  constexpr Eigen::Index kExamples = 1797;
  Dataset out{Eigen::MatrixXf(kPixels, kExamples), Eigen::VectorXi(kExamples), 10};
  const char* at = internal::kDigitsCsv.data();
  const char* const end = at + internal::kDigitsCsv.size();
  const auto next = [&at, end](int max) {
    int value = 0;
    const auto [stop, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || value > max || stop == end) {
      throw Error(ErrorKind::failed, "programs/data/digits.csv was damaged before this program was built");
    }
    at = stop + 1;  // past the comma or the end of the line
    return value;
  };
  for (Eigen::Index example = 0; example < kExamples; ++example) {
    for (Eigen::Index pixel = 0; pixel < kPixels; ++pixel) {
      out.features(pixel, example) = static_cast<float>(next(16)) / 4.0F - 2.0F;
    }
    out.labels(example) = next(9);
  }
  return out;
}

Dataset sparsified(const Dataset& data) {
  return {Eigen::MatrixXf(), data.labels, data.classes, data.features.sparseView(), data.names};
}

Dataset gather(const Dataset& data, std::span<const std::uint32_t> examples) {
  const auto count = static_cast<Eigen::Index>(examples.size());
  Dataset out{Eigen::MatrixXf(data.is_sparse() ? 0 : data.inputs(), data.is_sparse() ? 0 : count),
              Eigen::VectorXi(count), data.classes};
  if (data.is_sparse()) out.sparse.resize(data.inputs(), count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto from = static_cast<Eigen::Index>(examples[static_cast<std::size_t>(i)]);
    if (from >= data.examples()) {
      throw Error(ErrorKind::failed, "example " + std::to_string(from) + " of a dataset of " +
                                         std::to_string(data.examples()) + ": was it split with another seed?");
    }
    if (data.is_sparse()) {
      out.sparse.startVec(i);
      for (Eigen::SparseMatrix<float>::InnerIterator at(data.sparse, from); at; ++at) {
        out.sparse.insertBack(at.row(), i) = at.value();
      }
    } else {
      out.features.col(i) = data.features.col(from);
    }
    out.labels(i) = data.labels(from);
  }
  if (data.is_sparse()) out.sparse.finalize();
  return out;
}

Split split(const Dataset& data, std::uint64_t seed) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(data.examples()));
  std::iota(order.begin(), order.end(), 0U);
  Random(seed, "split").shuffle(std::span(order));
  const std::span<const std::uint32_t> all(order);
  const std::size_t train = all.size() * 4 / 5;
  Split out{gather(data, all.first(train)), gather(data, all.subspan(train))};
  out.train.names = out.test.names = data.names;
  return out;
}

}  // namespace lp
