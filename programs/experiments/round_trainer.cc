#include "programs/experiments/round_trainer.h"

#include <tuple>
#include <utility>
#include <variant>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp {

RoundTrainer::RoundTrainer(Context& node, Client<Metrics> metrics, const RoundOptions& options)
    : SegmentTrainer(
          std::move(metrics),
          std::get<Rounds>(options.agent.training).learner(options.environment()->spec(), node.program_seed()),
          options.rounds, options.checkpoint_every),
      environment_(options.environment()->spec().name),
      patience_(options.patience),
      parts_(static_cast<std::size_t>(options.actors)) {}

Future<bool> RoundTrainer::contribute(std::uint32_t actor, std::uint64_t round_of_segment, Segment segment) {
  if (actor >= parts_.size() || round_of_segment > round()) {
    throw Error(ErrorKind::failed, "actor " + std::to_string(actor) + " of " + std::to_string(parts_.size()) +
                                       " sent a segment of round " + std::to_string(round_of_segment) + " in round " +
                                       std::to_string(round()));
  }
  if (round_of_segment < round()) return ready(!over());
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
  const bool in_time = complete.get_for(patience_).has_value();
  return node.exclusive([&] {
    if (!in_time && !missing().empty()) {
      throw Error(ErrorKind::failed,
                  "round " + std::to_string(round()) + " is not complete after " + duration_text(patience_) + ": " +
                      missing() + " sent nothing; does a step of the environment \"" + environment_ + "\" not return?");
    }
    std::vector<Segment> segments;
    for (std::optional<Segment>& one : parts_) segments.push_back(*std::exchange(one, std::nullopt));
    return segments;
  });
}

void RoundTrainer::run(Context& node) {
  remember_reported(node);
  while (!over()) {
    update(node, complete_round(node), [this] {
      for (Promise<bool>& one : std::exchange(waiting_, {})) one.set_value(!over());
    });
  }
  end(node);
}

template const NodeType& internal::node_type<RoundTrainer>();

}  // namespace lp
