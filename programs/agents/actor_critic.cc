#include "programs/agents/actor_critic.h"

#include "programs/agents/action_distribution.h"
#include "programs/agents/flat_parameters.h"
#include "programs/networks/clipping.h"

namespace lp {

ActorCritic::ActorCritic(const MakeNetwork& policy, const MakeNetwork& value, const EnvironmentSpec& spec,
                         std::uint64_t seed)
    : policy_(policy_network(policy, spec)),
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

Array<float> ActorCritic::published() const { return array_of(policy_parameters()); }

void ActorCritic::save(Checkpoint& out) const {
  out.put("parameters", array_of(parameters_));
  out.put("optimizer", optimizer_);
}

void ActorCritic::load(const Checkpoint& in) {
  read_parameters(in.get<Array<float>>("parameters"), parameters_);
  optimizer_ = in.get<Optimizer>("optimizer");
}

}  // namespace lp
