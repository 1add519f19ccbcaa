#pragma once
// The newest states that workers without parameter servers have committed: what a training goes on from when no worker
// has a newer state, as after a restart of all, or in a run that resumes theirs. The workers take part in no cut; this
// node does it for them.
//
// A node, which serves only. Its handlers run in its turn.

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
  // For so many slots: one for each state that differs from the others. The schedule is about the updates of all slots
  // together.
  Commits(Context& node, std::uint32_t slots, CutSchedule schedule);

  // The state of a slot after so many updates. One that is not newer than what the slot has changes nothing.
  // Error::failed when there is no such slot.
  void put(std::uint32_t slot, std::uint64_t updates, const Array<float>& state);
  // Empty before the first.
  Array<float> state(std::uint32_t slot) const;

  void save(Checkpoint& out) const;
  // Error::failed when what was saved has other slots.
  void load(const Checkpoint& in);

  using Remote = Methods<idempotent<&Commits::put>, idempotent<&Commits::state>>;

 private:
  void check(std::uint32_t slot) const;
  std::uint64_t updates() const;  // all slots together

  Context& context_;
  CutSchedule schedule_;
  std::vector<std::uint64_t> updates_;  // by slot
  std::vector<Array<float>> states_;
};

}  // namespace lp
