#pragma once
// Makes the sums of windows. The library has those that are counts, and those that are all records; sums of other types
// are made where they are used. A pure function.

#include <cstdint>
#include <memory>

#include "nodes/stream/record_bag.h"
#include "nodes/windows/fixed_windows.h"
#include "nodes/windows/session_windows.h"
#include "nodes/windows/window_sums.h"

namespace lp::dataflow {

template <class Sum>
std::unique_ptr<WindowSums<Sum>> make_sums(StageSite& site, const WindowRules& rules, SumsOwner<Sum>& owner) {
  if (rules.windows.kind() == Windows::Kind::session) return std::make_unique<SessionWindows<Sum>>(site, rules, owner);
  return std::make_unique<FixedWindows<Sum>>(site, rules, owner);
}

extern template std::unique_ptr<WindowSums<std::uint64_t>> make_sums(StageSite&, const WindowRules&,
                                                                     SumsOwner<std::uint64_t>&);
extern template std::unique_ptr<WindowSums<RecordBag>> make_sums(StageSite&, const WindowRules&, SumsOwner<RecordBag>&);

}  // namespace lp::dataflow
