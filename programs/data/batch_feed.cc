#include "programs/data/batch_feed.h"

#include <utility>

namespace lp {

Future<std::uint64_t> BatchFeed::put(std::uint64_t step, std::optional<Dataset> batch) {
  if (step == next_ && !ended_ && waiting_.size() < kRoom) {
    ended_ = !batch.has_value();
    fed_ += ended_ ? 0 : 1;
    ++next_;
    waiting_.push_back(std::move(batch));
  }
  Future<std::uint64_t> answer = feeder_.emplace().future();
  go_on();
  return answer;
}

Future<std::optional<Dataset>> BatchFeed::take(std::uint64_t step) {
  if (step != next_ - waiting_.size()) {
    waiting_.clear();
    next_ = step;
    ended_ = false;
  }
  Future<std::optional<Dataset>> batch = taker_.emplace().future();
  go_on();
  return batch;
}

// Answers the feeder and the taker, if it can.
void BatchFeed::go_on() {
  if (taker_ && !waiting_.empty()) {
    taker_->set_value(std::move(waiting_.front()));
    taker_.reset();
    waiting_.pop_front();
  }
  if (feeder_ && !ended_ && waiting_.size() < kRoom) {
    feeder_->set_value(next_);
    feeder_.reset();
  }
}

}  // namespace lp
