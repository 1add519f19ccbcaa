#include "programs/evolution/covariance.h"

#include <Eigen/Eigenvalues>

namespace lp {
namespace {

constexpr double kLeast = 1e-14;  // the least variance, as a part of the largest

}  // namespace

using Eigen::MatrixXd;
using Eigen::VectorXd;

FullCovariance::FullCovariance(Eigen::Index dimensions) : matrix_(MatrixXd::Identity(dimensions, dimensions)) {
  decompose();
}

void FullCovariance::change(const CovarianceChange& change, const VectorXd& path, const MatrixXd& steps) {
  matrix_ *= change.kept;
  matrix_ += change.rank_one * path * path.transpose();
  matrix_ += steps * change.rank_mu.asDiagonal() * steps.transpose();
  decompose();
}

void FullCovariance::set(const VectorXd& values) {
  matrix_ = values.reshaped(matrix_.rows(), matrix_.cols());
  decompose();
}

void FullCovariance::decompose() {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver((matrix_ + matrix_.transpose()) / 2);
  const double largest = solver.eigenvalues().maxCoeff();
  const VectorXd deviations = solver.eigenvalues().cwiseMax(kLeast * largest).cwiseSqrt();
  const MatrixXd& basis = solver.eigenvectors();
  root_ = basis * deviations.asDiagonal() * basis.transpose();
  inverse_root_ = basis * deviations.cwiseInverse().asDiagonal() * basis.transpose();
  condition_ = largest / (deviations.minCoeff() * deviations.minCoeff());
}

void DiagonalCovariance::change(const CovarianceChange& change, const VectorXd& path, const MatrixXd& steps) {
  diagonal_ = change.kept * diagonal_ + change.rank_one * path.cwiseAbs2() + steps.cwiseAbs2() * change.rank_mu;
  diagonal_ = diagonal_.cwiseMax(kLeast * diagonal_.maxCoeff());
}

}  // namespace lp
