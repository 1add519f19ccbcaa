#pragma once
// Many copies of one environment, which act together: the vectorized runner of actors and evaluators. When a copy's
// episode ends, its next episode begins at once.
//
// An episode is a function of the seed, the copy's number, the episode's number and the actions. So the batch is saved
// as these, and goes on in the middle of its episodes. Owned by a node; one thread at a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "programs/environments/environment.h"

namespace lp {

enum class EpisodeEnd : std::uint8_t {
  none,
  terminated,  // by itself: its future is worth nothing
  truncated,   // by the step limit: its future is worth something, and is not seen
};

struct FinishedEpisode {
  std::uint32_t copy = 0;
  std::uint64_t steps = 0;
  double reward = 0;  // the sum of its rewards, not discounted
};

// Where the copies are, in values that are sent and saved.
struct EnvironmentBatchState {
  std::vector<std::uint64_t> episodes{};      // by copy: the number of the present episode
  std::vector<std::vector<float>> actions{};  // by copy: the actions of the present episode
};

// Makes an environment. Error::failed when the function returns none, or when its spec is wrong; the message names the
// environment.
std::unique_ptr<Environment> made_environment(const MakeEnvironment& make);

class EnvironmentBatch {
 public:
  static constexpr std::uint64_t kMostSteps = 100'000'000;  // the largest step limit: more is a mistake

  // Begins the first episode of each copy. Error::failed as made_environment, and when a first observation is
  // wrong.
  EnvironmentBatch(const MakeEnvironment& make, std::size_t copies, std::uint64_t seed);

  const EnvironmentSpec& spec() const { return spec_; }
  std::size_t copies() const { return copies_.size(); }

  // Acts in every copy. `actions` is action size × copies; continuous actions are first brought between low and high.
  // Error::failed, with the environment, copy, episode and step, when an action is no number or no choice, when the
  // environment throws or has another shape, and when a reward or an observation is not finite. Error::stopped, between
  // two copies, when the calling node is asked to stop: a step of a slow environment may outlast the time for that.
  void step(const Eigen::MatrixXf& actions);

  // The present observations, size × copies: after an episode's end, the first one of the next episode.
  const Eigen::MatrixXf& observations() const { return observations_; }
  // The results of the last step, by copy.
  const Eigen::VectorXf& rewards() const { return rewards_; }
  std::span<const EpisodeEnd> ends() const { return ends_; }
  // The observations at the ends of the episodes that ended in the last step; the other columns mean nothing.
  const Eigen::MatrixXf& last_observations() const { return last_; }
  // The episodes that ended in the last step, by copy.
  std::span<const FinishedEpisode> finished() const { return finished_; }

  // Ends the present episode of each copy without a result, and begins the next.
  void reset();
  // The same, with the episode of this number. Messages count the episodes of a copy from it on: it is their episode 0.
  void reset(std::uint64_t episode);

  EnvironmentBatchState state() const;
  // Error::failed when the state is that of another number of copies.
  void restore(const EnvironmentBatchState& state);

 private:
  struct Copy {
    std::unique_ptr<Environment> environment;
    std::uint64_t episode = 0;
    std::uint64_t first = 0;  // the episode that messages call 0
    std::vector<float> actions{};
    std::uint64_t steps = 0;
    double reward = 0;
  };

  void begin(std::size_t copy, std::uint64_t episode);
  void act(std::size_t copy, std::span<const float> action);
  std::span<const float> checked_action(std::size_t copy, const float* action);
  std::span<float> observation_of(std::size_t copy);
  void check_shape(std::size_t copy) const;
  void check_observation(std::size_t copy) const;
  [[noreturn]] void fail(std::size_t copy, const std::string& problem) const;
  template <class F>
  void guard(std::size_t copy, const char* name, F f) const;

  EnvironmentSpec spec_{};
  const std::uint64_t seed_;
  std::vector<Copy> copies_{};
  Eigen::MatrixXf observations_{};
  Eigen::MatrixXf last_{};
  Eigen::VectorXf rewards_{};
  std::vector<EpisodeEnd> ends_{};
  std::vector<FinishedEpisode> finished_{};
  std::vector<float> clipped_{};  // a continuous action
};

}  // namespace lp
