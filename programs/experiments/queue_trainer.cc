#include "programs/experiments/queue_trainer.h"

#include <utility>
#include <variant>
#include <vector>

#include "lp/base/error.h"

namespace lp {

QueueTrainer::QueueTrainer(Context& node, Client<SegmentQueue> queue, Client<Metrics> metrics,
                           const QueueOptions& options)
    : SegmentTrainer(
          std::move(metrics),
          std::get<Queued>(options.agent.training).learner(options.environment()->spec(), node.program_seed()),
          options.updates, options.checkpoint_every),
      queue_(std::move(queue)),
      batch_(std::get<Queued>(options.agent.training).batch) {}

void QueueTrainer::run(Context& node) {
  std::vector<Segment> segments;
  while (!over()) {
    segments.clear();
    while (segments.size() < batch_) segments.push_back(queue_.call<&SegmentQueue::take>());
    update(node, segments, [] {});
  }
}

QueueActor::QueueActor(Context& node, Client<ParameterSource> learner, Client<SegmentQueue> queue,
                       const QueueOptions& options)
    : learner_(std::move(learner)),
      queue_(std::move(queue)),
      steps_(options.agent.steps),
      environments_(options.environment, options.agent.copies, node.seed() + node.incarnation()),
      policy_(options.agent.policy(environments_.spec())) {}

void QueueActor::run(Context& node) {
  Version<Learned> learned = learner_.read<&ParameterSource::learned>();
  for (std::uint64_t segments = 0; !node.stopping(); ++segments) {
    policy_->set(*learned);
    Random random = node.random(segments * 1024 + node.incarnation());
    Segment segment = act_out(environments_, *policy_, random, steps_);
    segment.updates = learned->updates;
    queue_.call<&SegmentQueue::put>(std::move(segment));
    try {
      learned = learner_.read<&ParameterSource::learned>();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected) throw;
    }
  }
}

template const NodeType& internal::node_type<SegmentQueue>();
template const NodeType& internal::node_type<QueueTrainer>();

}  // namespace lp
