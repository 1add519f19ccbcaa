#include "programs/agents/action_scale.h"

#include <cstddef>

namespace lp {

ActionScale::ActionScale(const ActionSpace& space) : middle_(space.size()), half_(space.size()) {
  for (Eigen::Index i = 0; i < middle_.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    middle_(i) = (space.high[at] + space.low[at]) / 2;
    half_(i) = (space.high[at] - space.low[at]) / 2;
  }
}

}  // namespace lp
