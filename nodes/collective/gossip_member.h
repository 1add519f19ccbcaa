#pragma once
// What a member of a gossip has been sent: models with weights (Blot, Picard, Cord and Thome, "Gossip training for deep
// learning", 2016). A sender halves its weight and sends the other half along; who receives takes the weighted mean. So
// messages change neither the sum of all weights nor that of all weighted models.
//
// A node, which serves only; one for each worker, in its process (Program::colocate). Its handlers run in its turn.

#include <cstdint>

#include "lp/base/array.h"
#include "lp/program/context.h"
#include "lp/rpc/core/method.h"

namespace lp {

struct WeightedModel {
  double weight = 0;  // 0: there is none
  Array<float> values{};
  std::uint64_t step = 0;  // at which its sender was

  // x ← (α x + α' x') / (α + α'), α ← α + α', and the later step. Error::failed when the sizes differ.
  void merge(const WeightedModel& other);
};

class GossipMember {
 public:
  explicit GossipMember(Context& node) : first_(node.incarnation() == 1) {}

  // Something was sent to this member. What came before it and was not taken is merged with it, so that there is never
  // more than one model. Error::failed when it is of another size, or not finite.
  void put(const WeightedModel& sent);
  // What came since the last time.
  WeightedModel take();
  // The same, which stays.
  WeightedModel held() const { return held_; }
  // 1; but 0 after a restart: the weight of a member that died is gone, and what it begins with again is to count for
  // nothing until somebody sends it a model.
  double first_weight() const { return first_ ? 1 : 0; }

  using Remote = Methods<once<&GossipMember::put>, &GossipMember::take, idempotent<&GossipMember::held>,
                         idempotent<&GossipMember::first_weight>>;

 private:
  const bool first_;
  WeightedModel held_{};
};

}  // namespace lp
