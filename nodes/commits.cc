#include "nodes/commits.h"

#include <numeric>
#include <string>

#include "lp/base/error.h"

namespace lp {

Commits::Commits(Context& node, std::uint32_t slots, CutSchedule schedule)
    : context_(node), schedule_(schedule), updates_(slots), states_(slots) {}

void Commits::check(std::uint32_t slot) const {
  if (slot < states_.size()) return;
  throw Error(ErrorKind::failed,
              "state " + std::to_string(slot) + " of " + std::to_string(states_.size()) + ": they count from 0");
}

std::uint64_t Commits::updates() const { return std::accumulate(updates_.begin(), updates_.end(), std::uint64_t{0}); }

void Commits::put(std::uint32_t slot, std::uint64_t updates_of_slot, const Array<float>& state) {
  check(slot);
  if (updates_of_slot <= updates_[slot]) return;
  updates_[slot] = updates_of_slot;
  states_[slot] = state;
  if (schedule_.due(updates())) context_.cut(schedule_.cut);
}

Array<float> Commits::state(std::uint32_t slot) const {
  check(slot);
  return states_[slot];
}

void Commits::save(Checkpoint& out) const {
  out.put("updates", updates_);
  out.put("states", states_);
}

void Commits::load(const Checkpoint& in) {
  const auto states = in.get<std::vector<Array<float>>>("states");
  if (states.size() != states_.size()) {
    throw Error(ErrorKind::failed, "what was saved are the states of " + std::to_string(states.size()) +
                                       " workers, but there are " + std::to_string(states_.size()) +
                                       ": resume with as many as before");
  }
  states_ = states;
  updates_ = in.get<std::vector<std::uint64_t>>("updates");
  schedule_.cut = updates();
}

}  // namespace lp
