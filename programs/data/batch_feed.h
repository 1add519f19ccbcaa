#pragma once
// The queue between a feeder and its worker: the few batches that were fed and not yet taken. The feeder learns which
// step is wanted next as soon as there is room for it. So it waits for a slow worker, and goes back with a worker that
// goes back.
//
// Owned by the worker, and used in its turn only. For one feeder and one taker; a later one replaces the earlier.

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

  // Puts the batch of this step, or nothing: the feed has ended before it. The batch is dropped unless it is wanted
  // next. The answer is the step that is wanted then, and comes when there is room for it; after the end, it comes when
  // an earlier step is wanted.
  Future<std::uint64_t> put(std::uint64_t step, std::optional<Dataset> batch);
  // Takes the batch of this step, when it is there, or nothing at the end. If the step does not follow the step that
  // was taken last, all waiting batches are dropped and the feed goes on from this step.
  Future<std::optional<Dataset>> take(std::uint64_t step);

  std::uint64_t fed() const { return fed_; }  // batches, without the dropped ones

 private:
  void go_on();

  std::deque<std::optional<Dataset>> waiting_{};
  std::uint64_t next_ = 0;  // the step to feed next
  bool ended_ = false;
  std::uint64_t fed_ = 0;
  std::optional<Promise<std::uint64_t>> feeder_{};
  std::optional<Promise<std::optional<Dataset>>> taker_{};
};

}  // namespace lp
