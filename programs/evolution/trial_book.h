#pragma once
// The trials of a generation: which are to be done, which workers have them, and the results so far. Owned by the
// learner's node, in its turn.
//
// In a closed generation the trials are 0 .. n−1, and the results are theirs in this order, whoever sends them and
// when. A trial that a worker leaves undone is given to another. In an open one, workers get ever new trials, and the
// first n results count.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lp/base/scheduler.h"
#include "programs/evolution/search.h"

namespace lp {

// Trials that a worker gets at a time.
struct TrialRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

class TrialBook {
 public:
  // A worker that has trials for longer than `lease` for each is not waited for: others get them, too.
  TrialBook(std::size_t trials, bool open, Duration lease);

  // Begins a generation without results.
  void begin();

  // Gives this worker some of the trials that nobody had, fewer the fewer are left, so that all workers end at about
  // the same time (guided self-scheduling: Polychronopoulos and Kuck, IEEE Trans. Computers 36(12), 1987); after those,
  // the trials that were taken back, one by one. None: somebody has each of them, or the generation is complete.
  TrialRange give(std::uint32_t worker, std::size_t workers);
  // The worker has failed, or asks for other trials: those that it has are given again.
  void take_back(std::uint32_t worker);
  // Takes back what was given longer ago than the lease. Returns the time until the next lease ends.
  Duration take_back_late();

  // Keeps the result of a trial. Returns false when it is not needed: the trial has one, or the generation is complete.
  // Error::failed for a trial that is not of a generation.
  bool put(std::uint32_t number, Trial trial);

  bool complete() const { return results_ == trials_; }
  // Returns the results of a complete generation, and ends it.
  std::vector<Trial> take_results();

  // The workers that have trials, each with the first of them: for messages.
  std::vector<std::pair<std::uint32_t, TrialRange>> given() const;

 private:
  struct Given {
    std::uint32_t worker = 0;
    TrialRange range{};
    Time until{};  // the end of its lease; kNever: it was given again
  };

  void give_again(const Given& given);
  std::optional<TrialRange> next_again();

  const std::size_t trials_;
  const bool open_;
  const Duration lease_;
  std::vector<std::optional<Trial>> by_number_{};
  std::size_t results_ = 0;
  std::uint32_t next_ = 0;           // trials from here on were never given
  std::vector<TrialRange> again_{};  // to be given after those
  std::vector<Given> given_{};
};

}  // namespace lp
