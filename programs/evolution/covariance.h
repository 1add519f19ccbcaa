#pragma once
// The covariance C that CMA-ES learns: a whole matrix, or only its diagonal, which takes as many numbers as there are
// dimensions. Both have the same functions. Values.

#include <vector>

#include <Eigen/Core>

namespace lp {

// The factors by which a generation changes C.
struct CovarianceChange {
  double kept = 1;            // of C itself
  double rank_one = 0;        // of the path's outer product
  Eigen::VectorXd rank_mu{};  // of each step's outer product
};

class FullCovariance {
 public:
  // The factor for c_1 and c_μ.
  static double faster(double) { return 1; }

  explicit FullCovariance(Eigen::Index dimensions);

  // C^½ v and C^−½ v, for each column v.
  Eigen::MatrixXd shaped(const Eigen::MatrixXd& columns) const { return root_ * columns; }
  Eigen::MatrixXd round(const Eigen::MatrixXd& columns) const { return inverse_root_ * columns; }
  void change(const CovarianceChange& change, const Eigen::VectorXd& path, const Eigen::MatrixXd& steps);

  // C^½, by columns.
  Eigen::VectorXf shape() const { return root_.cast<float>().reshaped(); }
  double condition() const { return condition_; }
  // C, by columns.
  Eigen::VectorXd values() const { return matrix_.reshaped(); }
  // `values` has the size of values().
  void set(const Eigen::VectorXd& values);

 private:
  void decompose();

  Eigen::MatrixXd matrix_;
  Eigen::MatrixXd root_{};
  Eigen::MatrixXd inverse_root_{};
  double condition_ = 1;
};

// Learns faster, because there is less to learn (Ros and Hansen, "A simple modification in CMA-ES achieving linear time
// and space complexity", 2008, section 3).
class DiagonalCovariance {
 public:
  static double faster(double dimensions) { return (dimensions + 2) / 3; }

  explicit DiagonalCovariance(Eigen::Index dimensions) : diagonal_(Eigen::VectorXd::Ones(dimensions)) {}

  Eigen::MatrixXd shaped(const Eigen::MatrixXd& columns) const { return deviations().asDiagonal() * columns; }
  Eigen::MatrixXd round(const Eigen::MatrixXd& columns) const {
    return deviations().cwiseInverse().asDiagonal() * columns;
  }
  void change(const CovarianceChange& change, const Eigen::VectorXd& path, const Eigen::MatrixXd& steps);

  Eigen::VectorXf shape() const { return deviations().cast<float>(); }
  double condition() const { return diagonal_.maxCoeff() / diagonal_.minCoeff(); }
  Eigen::VectorXd values() const { return diagonal_; }
  void set(const Eigen::VectorXd& values) { diagonal_ = values; }

 private:
  Eigen::VectorXd deviations() const { return diagonal_.cwiseSqrt(); }

  Eigen::VectorXd diagonal_;
};

}  // namespace lp
