#pragma once
// The common part of the nodes that learn, as actors, evaluators and snapshots see it: the source of the policy's
// parameters, and the counts of the training. Nodes: their handlers run in their turn.
//
// A learner that goes back to a cut does some updates again. Until it has passed what it reported before, it reports
// nothing, so that no count that others see goes back, unless the metrics have been restarted at the same moment.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/interval.h"
#include "lp/program/context.h"
#include "lp/rpc/client.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"
#include "lp/rpc/core/published.h"
#include "nodes/metrics.h"
#include "programs/agents/policy.h"
#include "programs/experiments/training_counter.h"

namespace lp {

// A number of steps or updates that is never reached: other nodes end the program.
inline constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

class ParameterSource {
 public:
  static constexpr std::size_t kOldVersions = 1024;  // that readers may hold: one each, for this many readers

  explicit ParameterSource(Client<Metrics> metrics) : metrics_(std::move(metrics)) {}
  virtual ~ParameterSource() = default;

  // Those of the parameters, or, until the learner has passed them, those that it reported before it went back.
  TrainingCounts counts() const { return most_of(reported_, done()); }
  Published<Learned> learned{kOldVersions};
  // Ends the training after its present update, as if that were the last, with a cut. When the cut is complete, it
  // stops the program for this reason. Ready then.
  Future<void> end_early(std::string reason);

  static constexpr Interval kLastUpdate = 1440_min;  // a call waits for the end of an update, or for a restart
  using Remote = Methods<&ParameterSource::counts, &ParameterSource::learned,
                         deadline<idempotent<&ParameterSource::end_early>, kLastUpdate>>;

 protected:
  // The counts of the parameters.
  const TrainingCounts& done() const { return counter_.counts(); }

  // Called in run(), first: takes from the metrics what earlier incarnations have reported.
  void remember_reported(Context& node);
  // Called in run(): logs the values, the counts and the mean reward, and shows the progress of `total` updates with
  // the values, the mean reward and the environment steps.
  void report(Context& node, std::uint64_t total, MetricValues values);
  // Called in the node's turn, when an update is done: decides whether it was the last, which ended_early() returns.
  void end_if_asked() { ended_early_ = ended_early_ || end_reason_.has_value(); }
  bool ended_early() const { return ended_early_; }
  // Called in run(), at its end, when the last cut was begun: shows the progress that waits for the metrics, and stops
  // the program if the training has ended early.
  void end(Context& node);

  TrainingCounter counter_{};

 private:
  void show(Context& node);

  const Client<Metrics> metrics_;
  TrainingCounts reported_{};
  // The progress that report() shows as soon as the metrics have it: so the next incarnation knows of it.
  std::optional<Future<void>> logged_{};
  Progress logged_progress_{};
  // What end_early() has left.
  std::optional<std::string> end_reason_{};
  std::vector<Promise<void>> awaits_end_{};
  bool ended_early_ = false;
  bool ended_ = false;  // run() is at its end
};

}  // namespace lp
