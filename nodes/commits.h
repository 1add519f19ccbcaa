#pragma once
// Keeps the newest states that workers without parameter servers have committed. A training goes on from them when no
// worker has a newer state: after a restart of all workers, or in a run that resumes an earlier one. The workers save
// no checkpoint of the program themselves; this node does it for them.
//
// A node that only serves. Its handlers run in its turn.

#include <cstdint>
#include <vector>

#include "lp/base/array.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/rpc/core/method.h"
#include "nodes/cut_schedule.h"

namespace lp {

class Commits {
 public:
  // There are `slots` slots, one for each state that differs from the others. The schedule counts the updates of all
  // slots together.
  Commits(Context& node, std::uint32_t slots, CutSchedule schedule);

  // Stores a slot's state after `updates` updates. A state that is not newer than the stored one is ignored.
  // Error::failed when there is no such slot.
  void put(std::uint32_t slot, std::uint64_t updates, const Array<float>& state);
  // Empty before the first put().
  Array<float> state(std::uint32_t slot) const;

  void save(Checkpoint& out) const;
  // Error::failed when the saved slots differ in number.
  void load(const Checkpoint& in);

  using Remote = Methods<idempotent<&Commits::put>, idempotent<&Commits::state>>;

 private:
  void check(std::uint32_t slot) const;
  std::uint64_t updates() const;  // the sum over all slots

  Context& context_;
  CutSchedule schedule_;
  std::vector<std::uint64_t> updates_;  // by slot
  std::vector<Array<float>> states_;
};

}  // namespace lp
