#include "programs/agents/transitions.h"

#include <string>

#include "lp/base/error.h"

namespace lp {
namespace {

std::span<const float> column_of(const Eigen::MatrixXf& matrix, Eigen::Index column) {
  return {matrix.data() + column * matrix.rows(), static_cast<std::size_t>(matrix.rows())};
}
std::vector<float> copy_of(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace

TransitionJoiner::TransitionJoiner(NStep n_step, std::size_t copies) : n_step_(n_step), open_(copies) {
  if (n_step.steps >= 1) return;
  throw Error(ErrorKind::failed, "transitions over " + std::to_string(n_step.steps) + " steps: give 1 or more");
}

// The transition from the first of these steps over all of them.
Transition TransitionJoiner::joined(const std::deque<Step>& steps, std::span<const float> next, EpisodeEnd end) const {
  Transition out{.observation = steps.front().observation, .action = steps.front().action, .next = next};
  out.discount = 1;
  for (const Step& one : steps) {
    out.reward += out.discount * one.reward;
    out.discount *= n_step_.discount;
  }
  if (end == EpisodeEnd::terminated) out.discount = 0;
  return out;
}

void TransitionJoiner::add(const Segment& segment, const std::function<void(const Transition&)>& emit) {
  const Eigen::Index copies = segment.copies();
  Eigen::Index episode = 0;  // the next one that ends
  for (Eigen::Index column = 0; column < segment.rewards.size(); ++column) {
    std::deque<Step>& steps = open_[static_cast<std::size_t>(column % copies)];
    steps.push_back({.observation = copy_of(column_of(segment.observations, column)),
                     .action = copy_of(column_of(segment.actions, column)),
                     .reward = segment.rewards.reshaped()(column)});
    const EpisodeEnd end = segment.ends[static_cast<std::size_t>(column)];
    const bool ended = end != EpisodeEnd::none;
    const std::span<const float> next =
        ended ? column_of(segment.last_observations, episode++) : column_of(segment.observations, column + copies);
    while (!steps.empty() && (ended || steps.size() == static_cast<std::size_t>(n_step_.steps))) {
      emit(joined(steps, next, end));
      steps.pop_front();
    }
  }
}

}  // namespace lp
