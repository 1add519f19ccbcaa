#include "nodes/collective/gossip_member.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp {

void WeightedModel::merge(const WeightedModel& other) {
  if (other.weight == 0) return;
  if (weight == 0) {
    *this = other;
    return;
  }
  if (values.size() != other.values.size()) {
    throw Error(ErrorKind::failed, "a model of " + std::to_string(other.values.size()) +
                                       " values is merged with one of " + std::to_string(values.size()));
  }
  const double sum = weight + other.weight;
  const auto keep = static_cast<float>(weight / sum);
  const auto take = static_cast<float>(other.weight / sum);
  const std::span<float> to = values.edit();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = keep * to[i] + take * other.values[i];
  weight = sum;
  step = std::max(step, other.step);
}

bool GossipMember::put(const WeightedModel& sent) {
  const bool finite = std::all_of(sent.values.begin(), sent.values.end(), [](float x) { return std::isfinite(x); });
  if (!finite || !std::isfinite(sent.weight) || sent.weight < 0) {
    throw Error(ErrorKind::failed, "a model of weight " + std::to_string(sent.weight) +
                                       " has a weight or values that are not finite: a lower learning rate may help");
  }
  if (!finished_) held_.merge(sent);
  return !finished_;
}

void GossipMember::finish(const WeightedModel& model) {
  held_.merge(model);
  finished_ = true;
}

WeightedModel GossipMember::take() { return std::exchange(held_, {}); }

}  // namespace lp
