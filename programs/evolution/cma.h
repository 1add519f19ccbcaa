#pragma once
// CMA-ES: a search that learns the shape of the objective as well. Each generation's points are normal around a mean
// with step size σ and covariance σ² C; the best of them move the mean and change both (Hansen, "The CMA evolution
// strategy: a tutorial", arXiv:1604.00772, equations 38 to 47 with the parameters of equations 49 to 57 and, for cμ,
// 2 (μ_eff − 2 + 1 / μ_eff) / ((n + 2)² + μ_eff)). A value.
//
// It keeps n² numbers, and sends as many to each host in a generation. It finds an optimum exactly, in up to some
// hundred dimensions. The separable form keeps only the diagonal of C, n numbers, for any number of dimensions (Ros and
// Hansen, 2008); it does not learn which dimensions depend on one another.

#include <cstddef>

#include "programs/evolution/search.h"

namespace lp {

struct CmaOptions {
  double sigma = 0.5;          // the first step size: about a third of the distance to the optimum, in each dimension
  std::size_t population = 0;  // points of a generation; 0: 4 + ⌊3 ln n⌋. More of them search more globally
  bool separable = false;
};

// The limit of the form that is not separable: each generation decomposes C, in about 10 n³ operations.
constexpr std::size_t kMostCmaDimensions = 512;

// Error::failed for an option that does not fit.
SearchMethod cma(const CmaOptions& options = {});

}  // namespace lp
