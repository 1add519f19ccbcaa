#include "nodes/run_queue.h"

#include <string>

#include "lp/base/error.h"

namespace lp {

void RunQueue::run(Context& node) {
  for (;;) {
    Future<Work> next = node.exclusive([this] { return take(); });
    Work work = next.get();
    work();
  }
}

void RunQueue::put(Work work) {
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
