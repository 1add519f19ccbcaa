#include "programs/experiments/segment_trainer.h"

#include <utility>

namespace lp {

SegmentTrainer::SegmentTrainer(Client<Metrics> metrics, std::unique_ptr<SegmentLearner> learner, std::uint64_t updates,
                               std::uint64_t checkpoint_every)
    : ParameterSource(std::move(metrics)),
      learner_(std::move(learner)),
      updates_(updates),
      cuts_{.every = checkpoint_every, .last = updates} {
  publish();
}

void SegmentTrainer::publish() {
  learned.publish(
      {.steps = done().steps, .updates = done().updates, .progress = progress(), .parameters = learner_->policy()});
}

void SegmentTrainer::update(Context& node, std::span<const Segment> segments, Function<void()> release) {
  MetricValues values = learner_->learn(segments, progress(), node.random(done().updates));
  node.exclusive([&] {
    count(segments);
    end_if_asked();
    publish();
    release();
  });
  if (cuts_.due(done().updates, over())) node.checkpoint(done().updates);
  report(node, updates_, std::move(values));
}

void SegmentTrainer::count(std::span<const Segment> segments) {
  counter_.add_update();
  for (const Segment& segment : segments) counter_.add_steps(segment.size(), segment.finished);
}

void SegmentTrainer::save(Checkpoint& out) const {
  counter_.save(out);
  learner_->save(out);
}

void SegmentTrainer::load(const Checkpoint& in) {
  counter_.load(in);
  cuts_.cut = done().updates;
  learner_->load(in);
  publish();
}

}  // namespace lp
