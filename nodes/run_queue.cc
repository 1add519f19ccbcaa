#include "nodes/run_queue.h"

#include <algorithm>
#include <string>

#include "lp/base/error.h"

namespace lp {

void RunQueue::run(Context& node) {
  Duration last = kShort;
  for (;;) {
    Future<Work> next = node.exclusive([this, last] {
      took(last);
      return take();
    });
    Work work = next.get();
    const Time begin = now();
    work();
    last = now() - begin;
  }
}

void RunQueue::took(Duration time) { short_in_row_ = time < kShort ? std::min(short_in_row_ + 1, kProven) : 0; }

void RunQueue::put(Work work) {
  if (taker_ && short_in_row_ >= kProven) {  // nothing waits, and run() does nothing
    const Time begin = now();
    work();
    took(now() - begin);
    return;
  }
  if (waiting_.size() >= kRoom) {
    throw Error(ErrorKind::overloaded, std::to_string(kRoom) + " tasks wait already: wait for their results");
  }
  waiting_.push_back(std::move(work));
  hand_over();
}

Future<RunQueue::Work> RunQueue::take() {
  Future<Work> work = taker_.emplace().future();
  hand_over();
  return work;
}

void RunQueue::hand_over() {
  if (!taker_ || waiting_.empty()) return;
  taker_->set_value(std::move(waiting_.front()));
  taker_.reset();
  waiting_.pop_front();
}

}  // namespace lp
