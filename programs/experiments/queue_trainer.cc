#include "programs/experiments/queue_trainer.h"

#include <tuple>
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
      options_(std::get<Queued>(options.agent.training)) {}

void QueueTrainer::run(Context& node) {
  remember_reported(node);
  std::vector<Segment> segments;
  while (!over()) {
    segments.clear();
    while (segments.size() < options_.batch) {
      Segment segment = queue_.call<&SegmentQueue::take>();
      if (too_old(segment)) {
        node.exclusive([this] { counter_.add_stale(); });
      } else {
        segments.push_back(std::move(segment));
      }
    }
    update(node, segments, [] {});
  }
  end(node);
}

// After a restart the learner has fewer updates than some segments know of.
bool QueueTrainer::too_old(const Segment& segment) const {
  const std::uint64_t updates = done().updates;
  return options_.most_age && segment.updates < updates && updates - segment.updates > *options_.most_age;
}

QueueActor::QueueActor(Context& node, Client<ParameterSource> learner, const Clients<PolicyService>& servers,
                       Client<SegmentQueue> queue, const QueueOptions& options)
    : queue_(std::move(queue)),
      steps_(options.agent.steps),
      environments_(options.environment, options.agent.copies, node.seed() + node.incarnation()),
      acting_(make_acting(learner, servers, options.agent.policy, environments_.spec())) {}

void QueueActor::run(Context& node) {
  for (std::uint64_t segments = 0; !node.stopping(); ++segments) {
    Random random = node.random(segments * 1024 + node.incarnation());
    queue_.call<&SegmentQueue::put>(acting_->act(environments_, random, steps_, 0));
  }
}

template const NodeType& internal::node_type<SegmentQueue>();
template const NodeType& internal::node_type<QueueTrainer>();

}  // namespace lp
