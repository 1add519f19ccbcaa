#pragma once
// An actor of an agent that learns in rounds: in each round it acts by the learner's newest parameters, and sends the
// segment. It is in the program's cuts, with the episodes of its environments. A node whose run() acts.

#include <cstdint>
#include <memory>

#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/program/node_type.h"
#include "lp/rpc/client.h"
#include "nodes/cut_schedule.h"
#include "programs/environments/environment_batch.h"
#include "programs/experiments/acting.h"
#include "programs/experiments/round_trainer.h"

namespace lp {

class RoundActor {
 public:
  // Asks the servers for its actions; without servers it has a policy of its own.
  RoundActor(Context& node, Client<RoundTrainer> learner, const Clients<PolicyService>& servers,
             const RoundOptions& options);

  // Acts until all rounds are done. Errors as EnvironmentBatch::step.
  void run(Context& node);

  void save(Checkpoint& out) const;
  void load(const Checkpoint& in);

 private:
  const Client<RoundTrainer> learner_;
  const std::size_t steps_;
  CutSchedule cuts_;
  EnvironmentBatch environments_;
  const std::unique_ptr<Acting> acting_;
  std::uint64_t round_ = 0;
};

}  // namespace lp
