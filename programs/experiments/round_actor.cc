#include "programs/experiments/round_actor.h"

#include <utility>

namespace lp {

RoundActor::RoundActor(Context& node, Client<RoundTrainer> learner, const Clients<PolicyService>& servers,
                       const RoundOptions& options)
    : learner_(std::move(learner)),
      steps_(options.agent.steps),
      cuts_{.every = options.checkpoint_every, .last = options.rounds},
      environments_(options.environment, options.agent.copies, node.seed()),
      acting_(make_acting(learner_, servers, options.agent.policy, environments_.spec())) {}

void RoundActor::run(Context& node) {
  const auto index = static_cast<std::uint32_t>(node.index());
  for (bool another = true; another;) {
    Random random = node.random(round_);
    Segment segment = acting_->act(environments_, random, steps_, round_);  // a round makes one update
    another = learner_.call<&RoundTrainer::contribute>(index, round_, std::move(segment));
    ++round_;
    if (cuts_.due(round_, !another)) node.checkpoint(round_);
  }
}

void RoundActor::save(Checkpoint& out) const {
  out.put("round", round_);
  out.put("environments", environments_.state());
}

void RoundActor::load(const Checkpoint& in) {
  round_ = cuts_.cut = in.get<std::uint64_t>("round");
  environments_.restore(in.get<EnvironmentBatchState>("environments"));
}

}  // namespace lp
