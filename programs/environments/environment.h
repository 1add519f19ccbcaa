#pragma once
// The interface of an environment: a task that an agent learns by acting. Write one class for a task of your own:
//
//   class Corridor final : public lp::Environment {
//    public:
//     const lp::EnvironmentSpec& spec() const override { return spec_; }
//     void reset(lp::Random random, std::span<float> observation) override;
//     lp::StepResult step(std::span<const float> action, std::span<float> observation) override;
//    private:
//     lp::EnvironmentSpec spec_{.name = "corridor"};
//   };
//
// An Environment is one copy of the task. An EnvironmentBatch owns many and acts in all of them at once; it also
// enforces the step limit, and names the environment that fails. One thread at a time.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "lp/base/random.h"
#include "programs/environments/shape.h"

namespace lp {

// An action is either one of `choices`, as its number in one float, or a vector of floats between `low` and `high`.
struct ActionSpace {
  Eigen::Index choices = 0;  // 0: continuous
  std::vector<float> low{};
  std::vector<float> high{};

  bool discrete() const { return choices > 0; }
  Eigen::Index size() const { return discrete() ? 1 : static_cast<Eigen::Index>(low.size()); }  // floats of an action
};

struct EnvironmentSpec {
  std::string name{};  // for messages and results
  Shape observation{};
  ActionSpace action{};
  std::uint64_t most_steps = 0;  // an episode is truncated after so many steps
};

struct StepResult {
  float reward = 0;
  bool terminated = false;  // the episode has ended by itself: no reward can follow
};

class Environment {
 public:
  virtual ~Environment() = default;

  virtual const EnvironmentSpec& spec() const = 0;

  // Begins an episode, and writes its first observation. All chance of the episode, also that of its steps, comes from
  // `random`: the same random and the same actions give the same episode.
  virtual void reset(Random random, std::span<float> observation) = 0;

  // Acts, and writes the next observation. The action lies in spec().action.
  virtual StepResult step(std::span<const float> action, std::span<float> observation) = 0;
};

// Makes one copy. Nodes call it where they run.
using MakeEnvironment = std::function<std::unique_ptr<Environment>()>;

}  // namespace lp
