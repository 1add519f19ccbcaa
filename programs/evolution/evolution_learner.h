#pragma once
// The learner of a search by evolution: gives trials to workers, and improves the distribution when a generation is
// complete. It is in the program's cuts; the workers are not, and go on with whatever it gives them.
//
//     worker/0 ─┬─▶ learner ─▶ metrics
//     worker/1 ─┘
//
// A node: run() improves; handlers run in its turn.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "lp/base/interval.h"
#include "lp/program/context.h"
#include "lp/program/node_type.h"
#include "lp/rpc/clients.h"
#include "lp/rpc/core/future.h"
#include "nodes/cut_schedule.h"
#include "nodes/metrics.h"
#include "programs/evolution/objective.h"
#include "programs/evolution/search.h"
#include "programs/evolution/trial_book.h"
#include "programs/experiments/parameter_source.h"

namespace lp {

struct EvolutionOptions {
  SearchMethod method{};
  MakeObjective objective{};
  NoiseOptions noise{};
  // Whether a generation waits for all of its trials. Then the result is a function of the configuration and the seed,
  // whatever the workers. Otherwise the first results count, and later ones are dropped.
  bool synchronous = true;
  std::uint64_t evaluations = 100'000;  // counts points; then the search ends with its generation
  std::optional<double> goal{};         // a point with this value, or a better one, ends the search
  std::uint64_t checkpoint_every = 10;  // generations from one cut to the next; 0: one at the end
  // When a worker has its trials for longer than so long for each, others get them, too.
  Duration lease = std::chrono::seconds(10);
  // The search fails when workers have trials, and for so long neither a result comes nor a worker asks.
  Duration patience = std::chrono::minutes(5);
};

// What the workers of a generation need: it is published once, and read in place.
struct Population {
  std::uint64_t generation = 0;
  Distribution distribution{};
  Array<float> scale{};  // if the objective normalizes: as in Objective::evaluate
};

// Trials for a worker.
struct TrialOrder {
  std::uint64_t generation = 0;
  TrialRange range{};  // may be empty: then the worker asks again
  bool over = false;   // the search: the worker ends
};

// The results of an order.
struct TrialReport {
  std::uint64_t generation = 0;
  std::uint32_t first = 0;
  std::vector<Trial> trials{};
};

struct EvolutionState {
  std::uint64_t generations = 0;
  std::uint64_t evaluations = 0;  // counts points whose results were used
  std::uint64_t stale = 0;        // trials whose results came too late, or twice, and were dropped
  // The best point of all generations that are over.
  std::optional<double> best{};
  Array<float> best_parameters{};
};

// Any node that works for a learner. The learner calls no method of it, and only watches whether it is there.
class EvolutionMember {
 public:
  using Remote = Methods<>;
};

class EvolutionLearner final : public ParameterSource {
 public:
  static constexpr Interval kLongestWait = 1440_min;  // a call for trials waits for others, or for a restart

  EvolutionLearner(Context& node, Client<Metrics> metrics, Clients<EvolutionMember> workers,
                   const EvolutionOptions& options);

  // Improves until the search is over. Error::failed, which names the workers that have trials, when
  // EvolutionOptions::patience is over.
  void run(Context& node);

  // Takes a worker's results, and gives it more trials, as soon as there are some. Results that are not needed are
  // dropped and counted, among them those of another generation.
  Future<TrialOrder> work(std::uint32_t worker, TrialReport done);

  EvolutionState state() const;

  Published<Population> population{kOldVersions};
  Published<Array<float>> noise;  // the table; empty without one

  void save(Checkpoint& out) const;
  void load(const Checkpoint& in);

  using Remote = Methods<&ParameterSource::counts, &ParameterSource::learned,
                         deadline<idempotent<&ParameterSource::end_early>, kLastUpdate>, &EvolutionLearner::population,
                         &EvolutionLearner::noise, &EvolutionLearner::state,
                         deadline<idempotent<&EvolutionLearner::work>, kLongestWait>>;

 private:
  std::uint64_t generation() const { return done().updates; }
  bool over() const;
  void watch_workers();
  void take(TrialReport done);
  void serve_waiting();
  std::vector<Trial> complete_generation(Context& node);
  void check_patience() const;
  void improve(Context& node, const std::vector<Trial>& trials);
  void count(const std::vector<Trial>& trials);
  void keep_best(const std::vector<Trial>& trials);
  void publish();

  const EvolutionOptions options_;
  Clients<EvolutionMember> workers_;
  const std::unique_ptr<Objective> objective_;
  const Array<float> table_;
  const std::unique_ptr<Noise> noise_;
  const std::unique_ptr<Search> search_;
  const std::unique_ptr<Sampler> sampler_;
  const std::uint64_t points_;       // in a generation
  const std::uint64_t generations_;  // in the whole search
  CutSchedule cuts_;
  Moments observations_{};
  std::optional<double> best_{};
  Array<float> best_parameters_{};

  // The present generation.
  TrialBook book_;
  Time last_news_;                                          // the last result or order
  std::map<std::uint32_t, Promise<TrialOrder>> waiting_{};  // by worker
  std::optional<Promise<void>> complete_{};                 // run() waits for it
};

// The tables that calls of this class need are compiled once, in evolution_learner.cc.
extern template const NodeType& internal::node_type<EvolutionLearner>();

}  // namespace lp
