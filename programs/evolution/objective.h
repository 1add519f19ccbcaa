#pragma once
// The interface of an objective, which a search by evolution makes as large as it can. Write one class for an objective
// of your own: a simulation, a game, a fit.
//
//   class Range final : public lp::Objective {
//    public:
//     const std::string& name() const override { return name_; }
//     std::size_t size() const override { return 3; }
//     Eigen::VectorXf start(std::uint64_t seed) const override { return Eigen::VectorXf::Zero(3); }
//     lp::Evaluation evaluate(std::span<const float> parameters, std::uint64_t trial) override;
//    private:
//     const std::string name_ = "range";
//   };
//
// Owned by a node; one thread at a time.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <Eigen/Core>

#include "programs/evolution/moments.h"

namespace lp {

struct Evaluation {
  double value = 0;            // more is better
  std::uint64_t steps = 1;     // work: the steps of an environment, otherwise 1
  std::uint64_t episodes = 1;  // whose mean the value is, otherwise 1
  Moments observations{};      // if the objective normalizes
};

class Objective {
 public:
  virtual ~Objective() = default;

  virtual const std::string& name() const = 0;  // for messages and results
  virtual std::size_t size() const = 0;         // number of parameters that are searched

  // Where the search begins: a function of the seed.
  virtual Eigen::VectorXf start(std::uint64_t seed) const = 0;

  // The values of an observation, if it is to be normalized: its mean and 1 / deviation, as of the generation before,
  // follow the searched parameters in evaluate(). 0: it is not.
  virtual std::size_t normalized() const { return 0; }

  // All chance comes from the trial, of which all 64 bits count, and the objective's seed: the same trial and the same
  // parameters give the same result, wherever it is evaluated. Mirrored points have the same trial, so that chance does
  // not tell them apart.
  virtual Evaluation evaluate(std::span<const float> parameters, std::uint64_t trial) = 0;
};

// Makes an objective whose chance comes from the seed. Nodes call it where they run.
using MakeObjective = std::function<std::unique_ptr<Objective>(std::uint64_t seed)>;

// Makes one. Error::failed, which names the objective, when the function returns none, when it has no parameters, or
// when its start has another number of them.
std::unique_ptr<Objective> made_objective(const MakeObjective& make, std::uint64_t seed);

}  // namespace lp
