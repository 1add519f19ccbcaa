#pragma once
// One worker's share of a training: the examples that each of its steps trains on. It is a function of seed, step and
// worker, so that the worker or its feeder can compute it.
//
// One thread at a time.

#include <cstdint>
#include <optional>
#include <vector>

#include "lp/program/context.h"
#include "programs/data/batches.h"
#include "programs/data/data.h"
#include "programs/training/training.h"

namespace lp {

class Sampler {
 public:
  // The share of the node's index in its group. For a task without data it knows only the steps.
  Sampler(Context& node, const LearningTask& task, const ServerTraining& training, const Scheme& scheme);

  // training examples of all workers
  std::uint64_t examples() const { return static_cast<std::uint64_t>(data_.examples()); }
  std::uint64_t own_examples() const { return own_.size(); }
  std::uint64_t round_steps() const { return round_steps_; }
  std::uint64_t steps() const { return steps_; }
  // The examples of the worker's step; nothing when all steps are done. `now` is set if workers have failed and the
  // step is elsewhere than it would be otherwise. Workers that take turns all do the same number of steps from a
  // position on; the last of these may lie beyond the training's.
  std::optional<Dataset> batch(std::uint64_t step, const std::optional<Position>& now = {});
  // The step of the whole training that this step of the worker is.
  std::uint64_t training_step(std::uint64_t step, const std::optional<Position>& now = {}) const;

 private:
  WorkerRank rank_;
  bool turns_;
  std::uint64_t training_steps_;
  std::uint64_t steps_;
  Dataset data_{};
  std::vector<std::uint32_t> own_{};
  std::uint64_t round_steps_ = 0;
  std::optional<Batches> batches_{};  // over the own examples, if the worker has such, else over all
};

}  // namespace lp
