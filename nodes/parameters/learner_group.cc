#include "nodes/parameters/learner_group.h"

#include <utility>

namespace lp {

LearnerGroup::LearnerGroup(Clients<Learner> group, std::function<void()> changed)
    : group_(std::move(group)), changed_(std::move(changed)), there_(group_.size()) {
  if (!there_.empty()) watch();
}

void LearnerGroup::watch() {
  group_ = group_.latest();
  there_.assign(there_.size(), false);
  for (std::size_t i = 0; i < group_.size(); ++i) there_[group_.replica(i)] = true;
  const Future<void> watched = group_.change().then([this](Future<void> change) {
    change.get();  // throws when the run ends
    watch();
    changed_();
  });
}

}  // namespace lp
