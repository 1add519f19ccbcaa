#include "programs/models/model.h"

#include <bit>
#include <cstddef>

#include "lp/base/error.h"
#include "lp/base/hash.h"
#include "lp/kernels/cross_entropy.h"

namespace lp {

void check_labels(const Eigen::VectorXi& labels, Eigen::Index examples, Eigen::Index classes) {
  if (examples != labels.size()) {
    throw Error(ErrorKind::failed, "scores of " + std::to_string(examples) + " examples with " +
                                       std::to_string(labels.size()) + " labels");
  }
  for (Eigen::Index example = 0; example < examples; ++example) {
    const int label = labels(example);
    if (label >= 0 && label < classes) continue;
    throw Error(ErrorKind::failed, "example " + std::to_string(example) + " has label " + std::to_string(label) +
                                       ", but the model has " + std::to_string(classes) + " classes");
  }
}

double softmax_cross_entropy(Eigen::MatrixXf& scores, const Eigen::VectorXi& labels) {
  check_labels(labels, scores.cols(), scores.rows());
  double loss = 0;
  for (Eigen::Index example = 0; example < scores.cols(); ++example) {
    loss += kernels::cross_entropy(&scores(0, example), scores.rows(), labels(example));
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
