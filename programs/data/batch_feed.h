#pragma once
// Between who feeds a worker and the worker: the few batches that were fed and not yet taken. The feeder is told which
// step is wanted next, and is told so when there is room for it; so it waits for a worker that is behind, and goes back
// with one that does.
//
// Owned by the worker, and used in its turn only. For one feeder and one taker; one that comes later takes over.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "lp/rpc/core/future.h"
#include "programs/data/data.h"

namespace lp {

class BatchFeed {
 public:
  static constexpr std::size_t kRoom = 2;  // batches that wait

  // The batch of this step, or nothing: the feed has ended before it. Dropped unless it is what is wanted next. Answers
  // with the step that is wanted then, when there is room for it; after the end, when an earlier one is wanted or all
  // is done. kUnbounded: all is done.
  Future<std::uint64_t> put(std::uint64_t step, std::optional<Dataset> batch);
  // The batch of this step, when it is there, or nothing at the end. If it is not the one after that which was taken
  // last, all that waits is dropped and the feed goes on from this step.
  Future<std::optional<Dataset>> take(std::uint64_t step);
  // Nothing is wanted any more.
  void finish();

  std::uint64_t fed() const { return fed_; }  // batches, those that were dropped left out

 private:
  void go_on();

  std::deque<std::optional<Dataset>> waiting_{};
  std::uint64_t next_ = 0;  // step to be fed
  bool ended_ = false;
  bool done_ = false;
  std::uint64_t fed_ = 0;
  std::optional<Promise<std::uint64_t>> feeder_{};
  std::optional<Promise<std::optional<Dataset>>> taker_{};
};

}  // namespace lp
