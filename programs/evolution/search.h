#pragma once
// A search by evolution, as its two sides see it: a learner that improves a distribution by the values of its trials,
// and workers that make the points of a trial. Between them go the distribution, once a generation, and for each trial
// an index and values, whatever the number of parameters.
//
// Values; a Search is owned by the learner, a Sampler by a worker; one thread at a time.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "lp/base/array.h"
#include "lp/checkpoint/checkpoint.h"
#include "nodes/metrics.h"
#include "programs/evolution/moments.h"
#include "programs/evolution/noise.h"

namespace lp {

// The distribution of a generation's points, which workers sample.
struct Distribution {
  Array<float> centre{};  // its mean: the searched parameters
  Array<float> shape{};   // if the search has one; see its own file
  float sigma = 0;        // step size
};

// The result of a trial: of one point, or of two that mirror one another.
struct Trial {
  std::uint64_t index = 0;       // names its noise
  std::vector<double> values{};  // by point; more is better
  std::uint64_t steps = 0;       // in all points, as in Evaluation
  std::uint64_t episodes = 0;
  Moments observations{};
};

class Search {
 public:
  virtual ~Search() = default;

  // The number of trials of a generation.
  virtual std::size_t trials() const = 0;
  virtual Distribution distribution() const = 0;

  // Takes the values of a generation's trials, trials() of them, and makes the next distribution. Returns values to
  // log. The result is a function of the arguments and of the calls before.
  virtual MetricValues tell(std::span<const Trial> trials) = 0;

  // Its whole state, so that a restored search goes on with the same bits. load throws Error::failed for the state of a
  // search of another size.
  virtual void save(Checkpoint& out) const = 0;
  virtual void load(const Checkpoint& in) = 0;
};

class Sampler {
 public:
  virtual ~Sampler() = default;

  // Samples this distribution from now on.
  virtual void set(const Distribution& distribution) = 0;

  // The points of a trial.
  virtual std::size_t points() const = 0;
  // Writes one of them, which has the size of the centre.
  virtual void point(std::uint64_t index, std::size_t number, std::span<float> out) = 0;
};

// A way to search; a value.
struct SearchMethod {
  std::string name{};
  // Begins at this point. The noise outlives the search and the sampler.
  std::function<std::unique_ptr<Search>(const Eigen::VectorXf& start, const Noise& noise)> search{};
  std::function<std::unique_ptr<Sampler>(const Noise& noise)> sampler{};
  std::size_t most_parameters = 0;  // that it searches, which add_evolution checks; 0: any number
  std::string beyond{};             // what to take for more parameters
};

}  // namespace lp
