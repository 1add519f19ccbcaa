#include "programs/training/sampler.h"

namespace lp {

Sampler::Sampler(Context& node, const LearningTask& task, const ServerTraining& training, const Scheme& scheme)
    : rank_{.worker = static_cast<std::uint32_t>(node.index()), .workers = static_cast<std::uint32_t>(node.replicas())},
      turns_(scheme.division == Division::turns),
      training_steps_(training.steps),
      steps_(turns_ ? (training.steps + rank_.workers - 1 - rank_.worker) / rank_.workers : training.steps) {
  if (!task.data) return;
  data_ = task.data(node.program_seed());
  auto count = static_cast<std::uint32_t>(data_.examples());
  if (scheme.own_examples) {
    own_ = scheme.own_examples(data_, rank_, node.program_seed());
    count = static_cast<std::uint32_t>(own_.size());
    if (count == 0) return;  // there are no steps either
  }
  batches_.emplace(count, training.batch, node.program_seed());
  if (scheme.own_examples) round_steps_ = scheme.epochs * batches_->epoch_steps();
  if (round_steps_ > 0) steps_ *= round_steps_;
}

std::optional<Dataset> Sampler::batch(std::uint64_t step, const std::optional<Position>& now) {
  if (now ? now->batch >= training_steps_ : step >= steps_) return std::nullopt;
  if (round_steps_ > 0) {
    std::vector<std::uint32_t> out = batches_->epoch_batch(step);
    for (std::uint32_t& one : out) one = own_[one];
    return gather(data_, out);
  }
  const std::uint64_t number = training_step(step, now);
  if (turns_) return gather(data_, batches_->batch(number));
  const auto [worker, workers] = now ? now->rank : rank_;
  return gather(data_, batches_->shard(number, worker, workers));
}

std::uint64_t Sampler::training_step(std::uint64_t step, const std::optional<Position>& now) const {
  if (round_steps_ > 0) return step / round_steps_;
  if (now) return turns_ ? now->batch + now->rank.worker : now->batch;
  return turns_ ? step * rank_.workers + rank_.worker : step;
}

}  // namespace lp
