#include "programs/experiments/round_actor.h"

#include <utility>

namespace lp {

RoundActor::RoundActor(Context& node, Client<RoundTrainer> learner, const RoundOptions& options)
    : learner_(std::move(learner)),
      steps_(options.agent.steps),
      cuts_{.every = options.checkpoint_every, .last = options.rounds},
      environments_(options.environment, options.agent.copies, node.seed()),
      policy_(options.agent.policy(environments_.spec())) {}

void RoundActor::run(Context& node) {
  const auto index = static_cast<std::uint32_t>(node.index());
  for (bool another = true; another;) {
    const Version<Learned> learned = learner_.read<&RoundTrainer::learned>();
    policy_->set(*learned);
    Random random = node.random(round_);
    Segment segment = act_out(environments_, *policy_, random, steps_);
    segment.updates = learned->updates;
    another = learner_.call<&RoundTrainer::contribute>(index, round_, std::move(segment));
    ++round_;
    if (cuts_.due(round_)) node.checkpoint(round_);
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
