#pragma once
// Wakes a node's run(), which waits for its handlers. Owned by the node: run() waits, any thread wakes it.

#include <mutex>
#include <optional>

#include "lp/base/scheduler.h"
#include "lp/rpc/core/future.h"

namespace lp::dataflow {

class Signal {
 public:
  void set();
  // Returns when it was set since the last wait, or after `most`. Error::stopped when the node is asked to stop.
  void wait(Duration most = kForever);

 private:
  std::mutex mutex_;
  bool set_ = false;
  std::optional<Promise<void>> waiter_{};
};

}  // namespace lp::dataflow
