#include "programs/agents/actor_critic.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "lp/base/error.h"
#include "programs/networks/clipping.h"

namespace lp {
namespace {

std::span<float> span_of(Eigen::VectorXf& values) { return {values.data(), static_cast<std::size_t>(values.size())}; }

}  // namespace

ActorCritic::ActorCritic(const MakeNetwork& policy, const MakeNetwork& value, const EnvironmentSpec& spec,
                         std::uint64_t seed)
    : policy_(policy(spec.observation, spec.action.choices)),
      value_(value(spec.observation, 1)),
      parameters_(policy_->size() + value_->size()),
      gradient_(parameters_.size()) {
  parameters_ << policy_->initialize(seed), value_->initialize(seed + 1);
}

void ActorCritic::apply(const Adam& rule, float most_norm) {
  clip_norm(gradient_, most_norm);
  optimizer_.rule = rule;
  optimizer_.apply(span_of(parameters_), span_of(gradient_));
}

Array<float> ActorCritic::published() const {
  return Array<float>::copy_of({parameters_.data(), static_cast<std::size_t>(policy_->size())});
}

void ActorCritic::save(Checkpoint& out) const {
  out.put("parameters", Array<float>::copy_of({parameters_.data(), static_cast<std::size_t>(parameters_.size())}));
  out.put("optimizer", optimizer_);
}

void ActorCritic::load(const Checkpoint& in) {
  const auto parameters = in.get<Array<float>>("parameters");
  if (parameters.size() != static_cast<std::size_t>(parameters_.size())) {
    throw Error(ErrorKind::failed, "a checkpoint of " + std::to_string(parameters.size()) +
                                       " parameters is not of these networks, which have " +
                                       std::to_string(parameters_.size()));
  }
  std::copy(parameters.begin(), parameters.end(), parameters_.data());
  optimizer_ = in.get<Optimizer>("optimizer");
}

}  // namespace lp
