#include "programs/agents/segment_trainer.h"

#include <numeric>
#include <utility>

namespace lp {

SegmentTrainer::SegmentTrainer(Client<Metrics> metrics, std::unique_ptr<SegmentLearner> learner, std::uint64_t updates,
                               std::uint64_t checkpoint_every)
    : metrics_(std::move(metrics)),
      learner_(std::move(learner)),
      updates_(updates),
      cuts_{.every = checkpoint_every, .last = updates} {
  publish();
}

void SegmentTrainer::publish() {
  learned.publish(
      {.steps = counts_.steps, .updates = counts_.updates, .progress = progress(), .parameters = learner_->policy()});
}

void SegmentTrainer::update(Context& node, std::span<const Segment> segments, Function<void()> release) {
  MetricValues values = learner_->learn(segments, progress(), node.random(counts_.updates));
  node.exclusive([&] {
    count(segments);
    publish();
    release();
  });
  if (cuts_.due(counts_.updates)) node.checkpoint(counts_.updates);
  values.insert(values.begin(), {"reward", counts_.recent_reward});
  metrics_.send<&Metrics::log>(counts_.steps, values);
  node.report({.step = counts_.updates, .total = updates_, .values = values});
}

void SegmentTrainer::count(std::span<const Segment> segments) {
  ++counts_.updates;
  for (const Segment& segment : segments) {
    counts_.steps += segment.size();
    counts_.episodes += segment.finished.size();
    for (const FinishedEpisode& one : segment.finished) recent_.push_back(one.reward);
  }
  while (recent_.size() > kRecent) recent_.pop_front();
  if (recent_.empty()) return;
  counts_.recent_reward = std::accumulate(recent_.begin(), recent_.end(), 0.0) / static_cast<double>(recent_.size());
}

void SegmentTrainer::save(Checkpoint& out) const {
  out.put("counts", counts_);
  out.put("recent", recent_);
  learner_->save(out);
}

void SegmentTrainer::load(const Checkpoint& in) {
  counts_ = in.get<TrainingCounts>("counts");
  recent_ = in.get<std::deque<double>>("recent");
  cuts_.cut = counts_.updates;
  learner_->load(in);
  publish();
}

}  // namespace lp
