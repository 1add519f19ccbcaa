#pragma once
// The result of a search by evolution that has ended. One thread.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "lp/rpc/client.h"
#include "nodes/lost_files.h"
#include "programs/evolution/evolution_learner.h"
#include "programs/experiments/reported_series.h"

namespace lp {

struct EvolutionResult {
  std::optional<double> best{};  // the best value of a point; more is better
  std::uint64_t generations = 0;
  std::uint64_t evaluations = 0;  // counts points
  std::uint64_t steps = 0;        // work, as in Evaluation
  std::uint64_t stale = 0;        // results that came too late, or twice
  std::string parameters_hash{};  // the last centre's: equal for the same bits
};

// Prints the result. If `curve` is not empty, draws the series over the steps into this SVG file. If it cannot be
// written, it is in `lost`, and costs no result.
EvolutionResult report_evolution(const Client<EvolutionLearner>& learner, const ReadSeries& series,
                                 const std::string& title, LostFiles& lost, const std::filesystem::path& curve = {});

}  // namespace lp
