#include "nodes/commits.h"

#include <numeric>
#include <string>

#include "lp/base/error.h"

namespace lp {
namespace {

// Each state is an entry of its own, so that it can be exported as the array that it is.
std::string entry_of(std::size_t slot) { return std::to_string(slot) + "/state"; }

}  // namespace

Commits::Commits(Context& node, std::uint32_t slots, CutSchedule schedule)
    : context_(node), schedule_(schedule), updates_(slots), states_(slots) {}

void Commits::check(std::uint32_t slot) const {
  if (slot < states_.size()) return;
  throw Error(ErrorKind::failed,
              "state " + std::to_string(slot) + " of " + std::to_string(states_.size()) + ": states count from 0");
}

std::uint64_t Commits::updates() const { return std::accumulate(updates_.begin(), updates_.end(), std::uint64_t{0}); }

void Commits::put(std::uint32_t slot, std::uint64_t updates_of_slot, const Array<float>& state) {
  check(slot);
  if (updates_of_slot <= updates_[slot]) return;
  updates_[slot] = updates_of_slot;
  states_[slot] = state;
  if (schedule_.due(updates())) context_.checkpoint(schedule_.cut);
}

Array<float> Commits::state(std::uint32_t slot) const {
  check(slot);
  return states_[slot];
}

void Commits::save(Checkpoint& out) const {
  out.put("updates", updates_);
  for (std::size_t slot = 0; slot < states_.size(); ++slot) out.put(entry_of(slot), states_[slot]);
}

void Commits::load(const Checkpoint& in) {
  const auto saved = in.get<std::vector<std::uint64_t>>("updates");
  if (saved.size() != updates_.size()) {
    throw Error(ErrorKind::failed, "the checkpoint has the states of " + std::to_string(saved.size()) +
                                       " workers, but there are " + std::to_string(states_.size()) +
                                       ": resume with the same number of workers");
  }
  updates_ = saved;
  for (std::size_t slot = 0; slot < states_.size(); ++slot) states_[slot] = in.get<Array<float>>(entry_of(slot));
  schedule_.cut = updates();
}

}  // namespace lp
