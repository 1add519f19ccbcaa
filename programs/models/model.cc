#include "programs/models/model.h"

#include <bit>
#include <cstddef>

#include "lp/base/error.h"
#include "lp/base/hash.h"
#include "lp/kernels/cross_entropy.h"

namespace lp {

// Plain loops in double: it is little work, and an example's loss must not depend on its position in the batch.
double softmax_cross_entropy(Eigen::MatrixXf& scores, const Eigen::VectorXi& labels) {
  if (scores.cols() != labels.size()) {
    throw Error(ErrorKind::failed, "scores of " + std::to_string(scores.cols()) + " examples with " +
                                       std::to_string(labels.size()) + " labels");
  }
  const Eigen::Index classes = scores.rows();
  double loss = 0;
  for (Eigen::Index example = 0; example < scores.cols(); ++example) {
    const int label = labels(example);
    if (label < 0 || label >= classes) {
      throw Error(ErrorKind::failed, "example " + std::to_string(example) + " has label " + std::to_string(label) +
                                         ", but the model has " + std::to_string(classes) + " classes");
    }
    loss += kernels::cross_entropy(&scores(0, example), classes, label);
  }
  return loss;
}

std::string parameters_hash(const Eigen::VectorXf& parameters) {
  static_assert(std::endian::native == std::endian::little, "parameters_hash is defined over little-endian bytes");
  std::uint64_t hash = fnv1a(
      {reinterpret_cast<const char*>(parameters.data()), static_cast<std::size_t>(parameters.size()) * sizeof(float)});
  std::string out(16, '0');
  for (std::size_t i = out.size(); i-- > 0; hash >>= 4) out[i] = "0123456789abcdef"[hash & 15U];
  return out;
}

}  // namespace lp
