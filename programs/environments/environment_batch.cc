#include "programs/environments/environment_batch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "lp/rpc/core/call_context.h"

namespace lp {
namespace {

bool finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7F800000;  // all of its bits are set in NaN and infinity
  bool good = true;
  for (const float value : values) good &= (std::bit_cast<std::uint32_t>(value) & kExponent) != kExponent;
  return good;
}

void check(const EnvironmentSpec& spec) {
  const auto fail = [&](const std::string& problem) {
    throw Error(ErrorKind::failed, "the environment \"" + spec.name + "\" " + problem);
  };
  const ActionSpace& action = spec.action;
  if (spec.observation.size() < 1) fail("has observations without values: its spec needs a shape");
  if (spec.most_steps == 0 || spec.most_steps > EnvironmentBatch::kMostSteps) {
    fail("may never end: its spec needs most_steps from 1 to " + std::to_string(EnvironmentBatch::kMostSteps));
  }
  if (action.choices < 0 || action.size() < 1) fail("has no actions: its spec needs choices, or low and high");
  if (action.discrete()) return;
  if (action.low.size() != action.high.size()) fail("has bounds of different sizes: low and high need the same size");
  for (std::size_t i = 0; i < action.low.size(); ++i) {
    if (!(action.low[i] < action.high[i])) fail("has an action without a range: low must be below high");
    if (!std::isfinite(action.high[i] - action.low[i])) {
      fail("has an action with an infinite range: agents scale actions to the range, so low and high must be finite");
    }
  }
}

}  // namespace

std::unique_ptr<Environment> made_environment(const MakeEnvironment& make) {
  std::unique_ptr<Environment> made;
  try {
    made = make();
  } catch (const Error&) {
    throw;
  } catch (...) {
    throw Error(ErrorKind::failed, "the environment could not be made: " + as_error(std::current_exception()).text());
  }
  if (made == nullptr) throw Error(ErrorKind::failed, "the function that makes the environment has returned none");
  check(made->spec());
  return made;
}

EnvironmentBatch::EnvironmentBatch(const MakeEnvironment& make, std::size_t copies, std::uint64_t seed)
    : seed_(seed), copies_(copies) {
  for (Copy& one : copies_) one.environment = made_environment(make);
  if (copies_.empty()) throw Error(ErrorKind::failed, "an environment has 0 copies: give one or more");
  spec_ = copies_.front().environment->spec();
  for (std::size_t i = 0; i < copies; ++i) check_shape(i);
  const auto columns = static_cast<Eigen::Index>(copies);
  observations_.setZero(spec_.observation.size(), columns);
  last_.setZero(spec_.observation.size(), columns);
  rewards_.setZero(columns);
  ends_.assign(copies, EpisodeEnd::none);
  clipped_.resize(static_cast<std::size_t>(spec_.action.size()));
  finished_.reserve(copies);
  for (std::size_t i = 0; i < copies; ++i) begin(i, 0);
}

std::span<float> EnvironmentBatch::observation_of(std::size_t copy) {
  const auto size = static_cast<std::size_t>(observations_.rows());
  return {observations_.data() + copy * size, size};
}

void EnvironmentBatch::fail(std::size_t copy, const std::string& problem) const {
  const Copy& one = copies_[copy];
  throw Error(ErrorKind::failed, "the environment \"" + spec_.name + "\", copy " + std::to_string(copy) + ", episode " +
                                     std::to_string(one.episode - one.first) + ", step " + std::to_string(one.steps) +
                                     ": " + problem);
}

// Adds the place to an exception of f. An error of a call that the environment makes keeps its kind.
template <class F>
void EnvironmentBatch::guard(std::size_t copy, const char* name, F f) const {
  try {
    f();
  } catch (...) {
    const Error error = as_error(std::current_exception());
    if (error.kind() != ErrorKind::failed) throw error;
    fail(copy, std::string(name) + " threw an exception: " + error.text());
  }
}

void EnvironmentBatch::check_shape(std::size_t copy) const {
  const auto text = [](const EnvironmentSpec& spec) {
    return "observations of " + std::to_string(spec.observation.size()) + " values and actions of " +
           std::to_string(spec.action.size());
  };
  const EnvironmentSpec& own = copies_[copy].environment->spec();
  if (own.observation.size() == spec_.observation.size() && own.action.size() == spec_.action.size()) return;
  fail(copy, "its spec has " + text(own) + ", but that of copy 0 began with " + text(spec_));
}

void EnvironmentBatch::check_observation(std::size_t copy) const {
  const auto column = observations_.col(static_cast<Eigen::Index>(copy));
  if (finite({column.data(), static_cast<std::size_t>(column.size())})) return;
  Eigen::Index at = 0;
  while (std::isfinite(column(at))) ++at;
  fail(copy, "value " + std::to_string(at) + " of the observation is " + std::to_string(column(at)));
}

void EnvironmentBatch::begin(std::size_t copy, std::uint64_t episode) {
  Copy& one = copies_[copy];
  one.episode = episode;
  one.actions.clear();
  one.steps = 0;
  one.reward = 0;
  guard(copy, "reset()",
        [&] { one.environment->reset(Random(seed_ + copy, "episode", episode), observation_of(copy)); });
  check_shape(copy);
  check_observation(copy);
}

std::span<const float> EnvironmentBatch::checked_action(std::size_t copy, const float* action) {
  const ActionSpace& space = spec_.action;
  if (space.discrete()) {
    const auto choice = static_cast<Eigen::Index>(*action);
    if (*action >= 0 && choice < space.choices && static_cast<float>(choice) == *action) return {action, 1};
    fail(copy, "the agent chose action " + std::to_string(*action) + " of " + std::to_string(space.choices));
  }
  for (std::size_t i = 0; i < clipped_.size(); ++i) {
    if (std::isnan(action[i])) fail(copy, "value " + std::to_string(i) + " of the agent's action is not a number");
    clipped_[i] = std::clamp(action[i], space.low[i], space.high[i]);
  }
  return clipped_;
}

void EnvironmentBatch::act(std::size_t copy, std::span<const float> action) {
  Copy& one = copies_[copy];
  StepResult outcome;
  guard(copy, "step()", [&] { outcome = one.environment->step(action, observation_of(copy)); });
  check_shape(copy);
  if (!std::isfinite(outcome.reward)) fail(copy, "the reward is " + std::to_string(outcome.reward));
  check_observation(copy);
  one.actions.insert(one.actions.end(), action.begin(), action.end());
  ++one.steps;
  one.reward += static_cast<double>(outcome.reward);
  rewards_(static_cast<Eigen::Index>(copy)) = outcome.reward;
  ends_[copy] = outcome.terminated              ? EpisodeEnd::terminated
                : one.steps >= spec_.most_steps ? EpisodeEnd::truncated
                                                : EpisodeEnd::none;
}

void EnvironmentBatch::step(const Eigen::MatrixXf& actions) {
  if (actions.rows() != spec_.action.size() || actions.cols() != observations_.cols()) {
    fail(0, "the agent's actions are " + std::to_string(actions.rows()) + " × " + std::to_string(actions.cols()) +
                ", but there are " + std::to_string(copies()) + " copies of " + std::to_string(spec_.action.size()));
  }
  finished_.clear();
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    rpc::check_stop();
    act(i, checked_action(i, actions.data() + static_cast<Eigen::Index>(i) * actions.rows()));
    if (ends_[i] == EpisodeEnd::none) continue;
    const auto column = static_cast<Eigen::Index>(i);
    last_.col(column) = observations_.col(column);
    finished_.push_back(
        {.copy = static_cast<std::uint32_t>(i), .steps = copies_[i].steps, .reward = copies_[i].reward});
    begin(i, copies_[i].episode + 1);
  }
}

void EnvironmentBatch::reset() {
  for (std::size_t i = 0; i < copies_.size(); ++i) begin(i, copies_[i].episode + 1);
}

void EnvironmentBatch::reset(std::uint64_t episode) {
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    copies_[i].first = episode;
    begin(i, episode);
  }
}

EnvironmentBatchState EnvironmentBatch::state() const {
  EnvironmentBatchState out;
  for (const Copy& one : copies_) {
    out.episodes.push_back(one.episode);
    out.actions.push_back(one.actions);
  }
  return out;
}

void EnvironmentBatch::restore(const EnvironmentBatchState& state) {
  if (state.episodes.size() != copies_.size() || state.actions.size() != copies_.size()) {
    throw Error(ErrorKind::failed, "a state of " + std::to_string(state.episodes.size()) + " copies of \"" +
                                       spec_.name + "\" was given to " + std::to_string(copies_.size()));
  }
  const auto size = static_cast<std::size_t>(spec_.action.size());
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    copies_[i].first = 0;
    begin(i, state.episodes[i]);
    const std::span<const float> actions = state.actions[i];
    for (std::size_t at = 0; at + size <= actions.size(); at += size) act(i, actions.subspan(at, size));
  }
}

}  // namespace lp
