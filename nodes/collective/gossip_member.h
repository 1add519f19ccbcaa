#pragma once
// A member of a gossip, which holds the models with weights that were sent to it (Blot, Picard, Cord and Thome, "Gossip
// training for deep learning", 2016). A sender halves its weight and sends the other half with its model; the receiver
// takes the weighted mean. So messages change neither the sum of all weights nor that of all weighted models.
//
// A node that only serves; one for each worker, in the worker's process (Program::colocate). Its handlers run in its
// turn.

#include <cstdint>

#include "lp/base/array.h"
#include "lp/program/context.h"
#include "lp/rpc/core/method.h"

namespace lp {

struct WeightedModel {
  double weight = 0;  // 0: there is none
  Array<float> values{};
  std::uint64_t step = 0;  // the sender's step

  // x ← (α x + α' x') / (α + α'), α ← α + α', and the later step. Error::failed when the sizes differ.
  void merge(const WeightedModel& other);
};

class GossipMember {
 public:
  explicit GossipMember(Context& node) : first_(node.incarnation() == 1) {}

  // Receives a model. It is merged with an earlier one that was not taken, so that there is never more than one.
  // Error::failed when it is of another size, or not finite.
  void put(const WeightedModel& sent);
  // Returns and removes the merged model that came since the last take().
  WeightedModel take();
  // The same without removing it.
  WeightedModel held() const { return held_; }
  // The weight that this member's worker begins with: 1, but 0 after a restart. The weight of a member that died is
  // gone, and its new model must count for nothing until somebody sends it a model.
  double first_weight() const { return first_ ? 1 : 0; }

  using Remote = Methods<once<&GossipMember::put>, &GossipMember::take, idempotent<&GossipMember::held>,
                         idempotent<&GossipMember::first_weight>>;

 private:
  const bool first_;
  WeightedModel held_{};
};

}  // namespace lp
