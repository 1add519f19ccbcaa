#pragma once
// The learners of a node: the nodes of a group whose gradients or models it puts together. It waits for them, so it
// watches which of them the program goes on without. Owned by that node; used in the node's turn.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "lp/rpc/clients.h"
#include "lp/rpc/core/method.h"

namespace lp {

// Any node that others wait for. They call no method of it.
class Learner {
 public:
  using Remote = Methods<>;
};

class LearnerGroup {
 public:
  // Calls `changed` each time when learners have gone or are back.
  LearnerGroup(Clients<Learner> group, std::function<void()> changed);
  LearnerGroup(const LearnerGroup&) = delete;
  LearnerGroup& operator=(const LearnerGroup&) = delete;

  std::size_t size() const { return there_.size(); }  // those that are gone included
  // Whether the program goes on without this learner. A learner that is being restarted is not gone, nor is one that
  // does not belong to the group.
  bool is_gone(std::uint32_t learner) const { return learner < there_.size() && !there_[learner]; }

 private:
  void watch();

  Clients<Learner> group_;
  const std::function<void()> changed_;
  std::vector<bool> there_;  // by learner
};

}  // namespace lp
