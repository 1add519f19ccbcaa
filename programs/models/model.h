#pragma once
// The interface of a model for training programs. A model is a function of its parameters, which are one flat vector
// and live elsewhere. So servers can split the parameters anywhere, and optimizers need not know their meaning.
//
// A Model is immutable: any number of threads may use one.

#include <cstdint>
#include <string>

#include <Eigen/Core>

#include "lp/base/array.h"
#include "programs/data/data.h"

namespace lp {

// A classifier. All vectors and matrices are Eigen's own storage, which is aligned: the same input gives the same bits
// of output, wherever it lies. (Eigen's sums depend on the alignment of an address.)
class Model {
 public:
  virtual ~Model() = default;

  virtual Eigen::Index size() const = 0;  // number of parameters

  // The parameters that training starts from: a function of the seed.
  virtual Eigen::VectorXf initialize(std::uint64_t seed) const = 0;

  // Scores, classes × examples, for features, inputs × examples: the class with the highest score is the model's guess.
  // Error::failed when a size does not fit.
  virtual Eigen::MatrixXf scores(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const = 0;

  // The same for the features of these examples, dense or sparse.
  virtual Eigen::MatrixXf scores_of(const Eigen::VectorXf& parameters, const Dataset& data) const {
    return scores(parameters, data.features);
  }

  // The rows that a batch uses, ascending. A model of sparse examples uses, for a batch, only some rows of `width`
  // parameters each. `loss` may then be given these rows alone, and sets the gradient of these alone. Empty: it uses
  // all.
  virtual Array<std::uint64_t> rows(const Dataset&) const { return {}; }
  virtual Eigen::Index width() const { return 0; }  // 0: it has no rows, and always uses all

  // Returns the loss and sets `gradient` to its derivative, both SUMMED over the examples of the batch. So a batch's
  // shards add up to the batch, whatever their sizes, and an empty batch gives zeros. For the mean, divide once, by the
  // number of all examples. Error::failed when a size or a label does not fit.
  virtual double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const = 0;
};

// Error::failed when a label is not one of the classes, or not every example has one.
void check_labels(const Eigen::VectorXi& labels, Eigen::Index examples, Eigen::Index classes);

// The cross-entropy of softmax(scores), summed over the examples, in natural units. Replaces the scores by its
// derivative with respect to them. Error::failed as check_labels, whose classes are the scores' rows.
double softmax_cross_entropy(Eigen::MatrixXf& scores, const Eigen::VectorXi& labels);

// A hash of the parameters' bits as 16 hexadecimal digits, the same in every run and build: FNV-1a over their bytes,
// little-endian.
std::string parameters_hash(const Eigen::VectorXf& parameters);

}  // namespace lp
