#pragma once
// The part of a training that falls to one of its workers: which examples each of its steps trains on. A function of
// seed, step and worker, so that who knows it can be the worker or who feeds it.
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

class Share {
 public:
  // Of number node.index() of so many as its group has. Of a task without data it knows the steps alone.
  Share(Context& node, const LearningTask& task, const ServerTraining& training, const Scheme& scheme);

  std::uint64_t examples() const { return static_cast<std::uint64_t>(data_.examples()); }  // to train on, of all
  std::uint64_t own_examples() const { return own_.size(); }
  std::uint64_t round_steps() const { return round_steps_; }
  std::uint64_t steps() const { return steps_; }
  // The examples of the worker's step, if it is somewhere else than when no worker has failed; nothing when all steps
  // are done. Workers that take turns from a position on all do as many steps, the last of them beyond the training's.
  std::optional<Dataset> batch(std::uint64_t step, const std::optional<Position>& now = {});
  // Which step of the whole training this step of the worker is.
  std::uint64_t training_step(std::uint64_t step, const std::optional<Position>& now = {}) const;

 private:
  Place place_;
  bool turns_;
  std::uint64_t training_steps_;
  std::uint64_t steps_;
  Dataset data_{};
  std::vector<std::uint32_t> own_{};
  std::uint64_t round_steps_ = 0;
  std::optional<Batches> batches_{};  // of the own examples, where it has such
};

}  // namespace lp
