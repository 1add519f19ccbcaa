#include "programs/agents/round_trainer.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/message.h"

namespace lp {

RoundTrainer::RoundTrainer(Context& node, Client<Metrics> metrics, RoundOptions options)
    : metrics_(std::move(metrics)),
      options_(std::move(options)),
      cuts_{.every = options_.checkpoint_every, .last = options_.rounds},
      learner_(options_.agent.training.learner(options_.environment()->spec(), node.program_seed())),
      parts_(static_cast<std::size_t>(options_.actors)) {
  publish();
}

void RoundTrainer::publish() {
  learned.publish({.steps = counts_.steps,
                   .updates = counts_.updates,
                   .progress = static_cast<double>(round_) / static_cast<double>(options_.rounds),
                   .parameters = learner_->policy()});
}

Future<bool> RoundTrainer::contribute(std::uint32_t actor, std::uint64_t round, Segment segment) {
  if (actor >= parts_.size() || round > round_) {
    throw Error(ErrorKind::failed, "actor " + std::to_string(actor) + " of " + std::to_string(parts_.size()) +
                                       " sends a segment of round " + std::to_string(round) + " in round " +
                                       std::to_string(round_));
  }
  if (round < round_) return ready(round_ < options_.rounds);
  parts_[actor] = std::move(segment);
  waiting_.emplace_back();
  Future<bool> another = waiting_.back().future();
  if (complete_ && missing().empty()) std::exchange(complete_, std::nullopt)->set_value();
  return another;
}

std::string RoundTrainer::missing() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i]) names.push_back("actor/" + std::to_string(i));
  }
  return join(names, ", ");
}

std::vector<Segment> RoundTrainer::complete_round(Context& node) {
  Future<void> complete = node.exclusive([this] {
    if (missing().empty()) return ready();
    return complete_.emplace().future();
  });
  const bool in_time = complete.get_for(options_.patience).has_value();
  return node.exclusive([&] {
    if (!in_time && !missing().empty()) {
      throw Error(ErrorKind::failed, "round " + std::to_string(round_) + " is not complete after " +
                                         duration_text(options_.patience) + ": " + missing() +
                                         " sent nothing; does a step of the environment \"" +
                                         options_.environment()->spec().name + "\" not return?");
    }
    std::vector<Segment> segments;
    for (std::optional<Segment>& one : parts_) segments.push_back(*std::exchange(one, std::nullopt));
    return segments;
  });
}

void RoundTrainer::run(Context& node) {
  const std::uint64_t rounds = options_.rounds;
  while (round_ < rounds) {
    const std::vector<Segment> segments = complete_round(node);
    const double progress = static_cast<double>(round_) / static_cast<double>(rounds);
    MetricValues values = learner_->learn(segments, progress, node.random(round_));
    node.exclusive([&] { finish_round(segments); });
    if (cuts_.due(round_)) node.checkpoint(round_);
    values.insert(values.begin(), {"reward", counts_.recent_reward});
    metrics_.send<&Metrics::log>(counts_.steps, values);
    node.report({.step = round_, .total = rounds, .values = values});
  }
}

void RoundTrainer::finish_round(const std::vector<Segment>& segments) {
  ++round_;
  ++counts_.updates;
  for (const Segment& segment : segments) {
    counts_.steps += segment.size();
    counts_.episodes += segment.finished.size();
    for (const FinishedEpisode& one : segment.finished) recent_.push_back(one.reward);
  }
  while (recent_.size() > kRecent) recent_.pop_front();
  if (!recent_.empty()) {
    counts_.recent_reward = std::accumulate(recent_.begin(), recent_.end(), 0.0) / static_cast<double>(recent_.size());
  }
  publish();
  for (Promise<bool>& one : std::exchange(waiting_, {})) one.set_value(round_ < options_.rounds);
}

void RoundTrainer::save(Checkpoint& out) const {
  out.put("round", round_);
  out.put("counts", counts_);
  out.put("recent", recent_);
  learner_->save(out);
}

void RoundTrainer::load(const Checkpoint& in) {
  round_ = cuts_.cut = in.get<std::uint64_t>("round");
  counts_ = in.get<TrainingCounts>("counts");
  recent_ = in.get<std::deque<double>>("recent");
  learner_->load(in);
  publish();
}

template const NodeType& internal::node_type<RoundTrainer>();

}  // namespace lp
