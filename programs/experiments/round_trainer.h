#pragma once
// The learner of an agent that learns in rounds. A round is complete when every actor has sent its segment by the
// newest parameters. Then the learner learns from all segments, in the order of the actors, and publishes parameters
// for the next round. It is in the program's cuts, together with the actors.
//
//     actor/0 ─┬─▶ learner ─▶ metrics
//     actor/1 ─┘
//
// A node: run() learns; handlers run in its turn.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lp/base/interval.h"
#include "lp/program/node_type.h"
#include "lp/rpc/core/future.h"
#include "programs/experiments/segment_trainer.h"

namespace lp {

struct RoundOptions {
  Agent agent{};
  MakeEnvironment environment{};
  int actors = 1;
  std::uint64_t rounds = 1;
  std::uint64_t checkpoint_every = 0;           // rounds; 0: a cut after the last round only
  Duration patience = std::chrono::minutes(5);  // an actor that is not done with a round by then has failed
};

class RoundTrainer final : public SegmentTrainer {
 public:
  static constexpr Interval kRoundTime = 1440_min;  // a call waits for the slowest actor, its restart included

  RoundTrainer(Context& node, Client<Metrics> metrics, const RoundOptions& options);

  // Learns until all rounds are done. Error::failed, which names the actors, when a round is not complete in time.
  void run(Context& node);

  // Takes an actor's segment of this round. Ready when the round has been learned; returns whether there is another.
  // Error::failed when the round lies ahead of the learner's.
  Future<bool> contribute(std::uint32_t actor, std::uint64_t round, Segment segment);

  using Remote = Methods<&ParameterSource::counts, &ParameterSource::learned,
                         deadline<idempotent<&ParameterSource::end_early>, kLastUpdate>,
                         deadline<idempotent<&RoundTrainer::contribute>, kRoundTime>>;

 private:
  std::uint64_t round() const { return done().updates; }
  std::vector<Segment> complete_round(Context& node);
  std::string missing() const;

  const std::string environment_;
  const Duration patience_;
  // The present round.
  std::vector<std::optional<Segment>> parts_{};  // by actor
  std::vector<Promise<bool>> waiting_{};
  std::optional<Promise<void>> complete_{};  // run() waits for it
};

// The tables that calls of this class need are compiled once, in round_trainer.cc.
extern template const NodeType& internal::node_type<RoundTrainer>();

}  // namespace lp
