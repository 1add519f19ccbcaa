#pragma once
// Transitions: an observation, the action taken, and the outcome some steps later. Agents with a replay table learn
// from batches of them. Values; one thread at a time.

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "programs/agents/segment.h"

namespace lp {

// A transition goes over n steps, or fewer at the end of an episode.
struct NStep {
  int steps = 1;
  float discount = 0.99F;
};

struct Transition {
  std::span<const float> observation{};
  std::span<const float> action{};
  float reward = 0;    // Σ discount^k · reward of step k
  float discount = 0;  // discount^n for the value of `next`; 0 where the episode ended by itself
  std::span<const float> next{};
};

// A batch, one transition in a column.
struct Transitions {
  Eigen::MatrixXf observations{};
  Eigen::MatrixXf actions{};
  Eigen::VectorXf rewards{};
  Eigen::VectorXf discounts{};
  Eigen::MatrixXf next{};
  Eigen::VectorXf weights{};  // factors of the losses
};

// Joins the steps of an actor's segments, which follow one another, to transitions.
class TransitionJoiner {
 public:
  // Error::failed for fewer than one step.
  TransitionJoiner(NStep n_step, std::size_t copies);

  // Calls `emit` for each transition that is complete with this segment. Its spans are valid during the call.
  void add(const Segment& segment, const std::function<void(const Transition&)>& emit);

 private:
  struct Step {
    std::vector<float> observation;
    std::vector<float> action;
    float reward = 0;
  };

  Transition joined(const std::deque<Step>& steps, std::span<const float> next, EpisodeEnd end) const;

  const NStep n_step_;
  std::vector<std::deque<Step>> open_;  // by copy: the steps whose transitions are not complete, in order
};

}  // namespace lp
