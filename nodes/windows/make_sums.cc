#include "nodes/windows/make_sums.h"

namespace lp::dataflow {

template std::unique_ptr<WindowSums<std::uint64_t>> make_sums(StageSite&, const WindowRules&,
                                                              SumsOwner<std::uint64_t>&);
template std::unique_ptr<WindowSums<RecordBag>> make_sums(StageSite&, const WindowRules&, SumsOwner<RecordBag>&);

}  // namespace lp::dataflow
