#include "programs/evolution/cma.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "lp/base/error.h"
#include "programs/evolution/covariance.h"

namespace lp {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The parameters of a search that do not change.
struct Rates {
  VectorXd weights{};    // w, by rank from the best on; negative in the worse half
  Index parents = 0;     // μ
  double effective = 0;  // μ_eff
  double path = 0;       // c_c
  double rank_one = 0;   // c_1
  double rank_mu = 0;    // c_μ
  double step_path = 0;  // c_σ
  double damping = 0;    // d_σ
  double length = 0;     // E‖N(0, I)‖
};

double effective(const Eigen::Ref<const VectorXd>& weights) {
  return weights.sum() * weights.sum() / weights.squaredNorm();
}

// c_1 and c_μ are `faster` times as large.
Rates rates_of(std::size_t dimensions, std::size_t population, double faster) {
  const auto n = static_cast<double>(dimensions);
  const auto size = static_cast<Index>(population);
  Rates out;
  out.weights.resize(size);
  for (Index i = 0; i < size; ++i) {  // equation 49
    out.weights(i) = std::log((static_cast<double>(size) + 1) / 2) - std::log(static_cast<double>(i + 1));
  }
  out.parents = size / 2;
  out.effective = effective(out.weights.head(out.parents));
  const double mu = out.effective;
  out.step_path = (mu + 2) / (n + mu + 5);  // equation 55
  out.damping = 1 + 2 * std::max(0.0, std::sqrt((mu - 1) / (n + 1)) - 1) + out.step_path;
  out.path = (4 + mu / n) / (n + 4 + 2 * mu / n);                           // equation 56
  out.rank_one = std::min(1.0, faster * 2 / ((n + 1.3) * (n + 1.3) + mu));  // equation 57
  out.rank_mu = std::min(1 - out.rank_one, faster * 2 * (mu - 2 + 1 / mu) / ((n + 2) * (n + 2) + mu));
  out.length = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
  const double worse = effective(out.weights.tail(size - out.parents));
  const double negative = std::min({1 + out.rank_one / out.rank_mu,                          // equation 50
                                    1 + 2 * worse / (mu + 2),                                // equation 51
                                    (1 - out.rank_one - out.rank_mu) / (n * out.rank_mu)});  // equation 52
  const double above = out.weights.cwiseMax(0).sum();
  const double below = -out.weights.cwiseMin(0).sum();
  for (double& one : out.weights) one *= one >= 0 ? 1 / above : negative / below;  // equation 53
  return out;
}

template <class Covariance>
class Cma final : public Search {
 public:
  Cma(const CmaOptions& options, const Eigen::VectorXf& start, const Noise& noise)
      : noise_(noise), sigma_(options.sigma), mean_(start.cast<double>()), covariance_(start.size()) {
    const auto n = static_cast<std::size_t>(start.size());
    const std::size_t usual = 4 + static_cast<std::size_t>(3 * std::log(static_cast<double>(n)));
    rates_ =
        rates_of(n, options.population > 0 ? options.population : usual, Covariance::faster(static_cast<double>(n)));
    path_ = step_path_ = VectorXd::Zero(start.size());
  }

  std::size_t trials() const override { return static_cast<std::size_t>(rates_.weights.size()); }
  Distribution distribution() const override {
    const Eigen::VectorXf centre = mean_.cast<float>();
    const Eigen::VectorXf shape = covariance_.shape();
    return {.centre = Array<float>::copy_of({centre.data(), static_cast<std::size_t>(centre.size())}),
            .shape = Array<float>::copy_of({shape.data(), static_cast<std::size_t>(shape.size())}),
            .sigma = static_cast<float>(sigma_)};
  }

  MetricValues tell(std::span<const Trial> trials) override {
    const MatrixXd steps = sorted_steps(trials);
    const VectorXd mean_step = steps.leftCols(rates_.parents) * rates_.weights.head(rates_.parents);  // equation 41
    mean_ += sigma_ * mean_step;                                                                      // equation 42
    ++generations_;
    const double length = move_step_path(mean_step);
    change_covariance(steps, mean_step, length);
    sigma_ *= std::exp(rates_.step_path / rates_.damping * (length / rates_.length - 1));  // equation 44
    return {{"sigma", sigma_}, {"condition", covariance_.condition()}};
  }

  void save(Checkpoint& out) const override {
    out.put("sigma", sigma_);
    out.put("generations", generations_);
    out.put("mean", vector_of(mean_));
    out.put("path", vector_of(path_));
    out.put("step_path", vector_of(step_path_));
    out.put("covariance", vector_of(covariance_.values()));
  }
  void load(const Checkpoint& in) override {
    sigma_ = in.get<double>("sigma");
    generations_ = in.get<std::uint64_t>("generations");
    read(in, "mean", mean_);
    read(in, "path", path_);
    read(in, "step_path", step_path_);
    VectorXd covariance = covariance_.values();
    read(in, "covariance", covariance);
    covariance_.set(covariance);
  }

 private:
  static std::vector<double> vector_of(const Eigen::Ref<const VectorXd>& values) {
    return {values.begin(), values.end()};
  }
  static void read(const Checkpoint& in, const std::string& name, Eigen::Ref<VectorXd> values) {
    const auto saved = in.get<std::vector<double>>(name);
    if (saved.size() != static_cast<std::size_t>(values.size())) {
      throw Error(ErrorKind::failed, "the saved " + name + " of a search has " + std::to_string(saved.size()) +
                                         " values, not " + std::to_string(values.size()));
    }
    std::copy(saved.begin(), saved.end(), values.begin());
  }

  // The steps y = (x − m) / σ of the points, the best first; of equal ones the first.
  MatrixXd sorted_steps(std::span<const Trial> trials) {
    std::vector<std::size_t> order(trials.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return trials[a].values[0] > trials[b].values[0]; });
    MatrixXd noise(mean_.size(), static_cast<Index>(trials.size()));
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::span<const float> one =
          noise_.at(trials[order[i]].index, static_cast<std::size_t>(mean_.size()), room_);
      noise.col(static_cast<Index>(i)) = Eigen::Map<const Eigen::VectorXf>(one.data(), mean_.size()).cast<double>();
    }
    return covariance_.shaped(noise);  // equation 39, with the symmetric root of C
  }

  // Returns the length of the path.
  double move_step_path(const VectorXd& mean_step) {
    const double c = rates_.step_path;  // equation 43
    step_path_ = (1 - c) * step_path_ + std::sqrt(c * (2 - c) * rates_.effective) * covariance_.round(mean_step);
    return step_path_.norm();
  }

  void change_covariance(const MatrixXd& steps, const VectorXd& mean_step, double length) {
    const auto n = static_cast<double>(mean_.size());
    const double since = 1 - std::pow(1 - rates_.step_path, 2.0 * static_cast<double>(generations_));
    const bool steady = length / std::sqrt(since) < (1.4 + 2 / (n + 1)) * rates_.length;  // h_σ
    const double c = rates_.path;
    path_ = (1 - c) * path_;  // equation 45
    if (steady) path_ += std::sqrt(c * (2 - c) * rates_.effective) * mean_step;
    VectorXd weights = rates_.weights;  // equation 46
    const VectorXd lengths = covariance_.round(steps).colwise().squaredNorm();
    for (Index i = 0; i < weights.size(); ++i) {
      if (weights(i) < 0) weights(i) *= n / std::max(lengths(i), 1e-8);
    }
    const double lost = steady ? 0 : c * (2 - c);  // equation 47
    const double sum = rates_.weights.sum();
    covariance_.change({.kept = 1 + rates_.rank_one * lost - rates_.rank_one - rates_.rank_mu * sum,
                        .rank_one = rates_.rank_one,
                        .rank_mu = rates_.rank_mu * weights},
                       path_, steps);
  }

  const Noise& noise_;
  Rates rates_{};
  double sigma_;
  std::uint64_t generations_ = 0;
  VectorXd mean_;
  VectorXd path_{};       // p_c
  VectorXd step_path_{};  // p_σ
  Covariance covariance_;
  std::vector<float> room_{};
};

// m + σ C^½ z.
class CmaSampler final : public Sampler {
 public:
  explicit CmaSampler(const Noise& noise) : noise_(noise) {}

  void set(const Distribution& distribution) override { distribution_ = distribution; }
  std::size_t points() const override { return 1; }
  void point(std::uint64_t index, std::size_t, std::span<float> out) override {
    const auto n = static_cast<Index>(out.size());
    const Eigen::Map<const Eigen::VectorXf> noise(noise_.at(index, out.size(), room_).data(), n);
    const Eigen::Map<const Eigen::VectorXf> centre(distribution_.centre.data(), n);
    Eigen::Map<Eigen::VectorXf> result(out.data(), n);
    if (distribution_.shape.size() == out.size()) {  // a diagonal
      const Eigen::Map<const Eigen::VectorXf> shape(distribution_.shape.data(), n);
      result = centre + distribution_.sigma * shape.cwiseProduct(noise);
    } else {
      const Eigen::Map<const Eigen::MatrixXf> shape(distribution_.shape.data(), n, n);
      result = centre + distribution_.sigma * (shape * noise);
    }
  }

 private:
  const Noise& noise_;
  Distribution distribution_{};
  std::vector<float> room_{};
};

}  // namespace

SearchMethod cma(const CmaOptions& options) {
  if (!(options.sigma >= 1.2e-38 && options.sigma <= 3.4e38)) {  // the samplers get it as a float
    throw Error(ErrorKind::failed, "CMA-ES needs a sigma from 1.2e-38 to 3.4e38");
  }
  if (options.population != 0 && options.population < 4) {
    throw Error(ErrorKind::failed, "CMA-ES needs at least 4 points in a generation, not " +
                                       std::to_string(options.population) + "; give 0 for the usual number");
  }
  const auto search = [options](const Eigen::VectorXf& start, const Noise& noise) -> std::unique_ptr<Search> {
    if (options.separable) return std::make_unique<Cma<DiagonalCovariance>>(options, start, noise);
    return std::make_unique<Cma<FullCovariance>>(options, start, noise);
  };
  return {.name = options.separable ? "separable cma" : "cma",
          .search = search,
          .sampler = [](const Noise& noise) { return std::make_unique<CmaSampler>(noise); },
          .most_parameters = options.separable ? 0 : kMostCmaDimensions,
          .beyond = "cma({.separable = true}) or an evolution_strategy"};
}

}  // namespace lp
