#pragma once
// Work that a node's handlers leave to its run(), in the order in which it came. The handlers hold no turn meanwhile,
// so the node answers heartbeats however long the work takes. Work that has been short many times in a row is done at
// once, in the turn, because a change of thread takes longer; the first piece that is long then holds the turn.
//
// Owned by a node: add() in its turn, run() in its run().

#include <cstddef>
#include <deque>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "lp/base/function.h"
#include "lp/base/scheduler.h"
#include "lp/program/context.h"
#include "lp/rpc/core/future.h"

namespace lp {

class RunQueue {
 public:
  static constexpr std::size_t kRoom = 1 << 16;  // the most pieces of work that wait
  // After so many pieces in a row that took less than kShort each, add() does the work when run() has none.
  static constexpr int kProven = 64;
  static constexpr Duration kShort = std::chrono::milliseconds(1);

  // Returns the result or the exception of f(), when run() or add() has called it. Error::overloaded when there is no
  // room.
  template <class F>
  Future<std::invoke_result_t<F&>> add(F f) {
    using Result = std::invoke_result_t<F&>;
    Promise<Result> promise;
    Future<Result> result = promise.future();
    put([f = std::move(f), promise = std::move(promise)]() mutable {
      try {
        if constexpr (std::is_void_v<Result>) {
          f();
          promise.set_value();
        } else {
          promise.set_value(f());
        }
      } catch (...) {
        promise.set_exception(std::current_exception());
      }
    });
    return result;
  }

  // Does the work until the node is asked to stop. Then throws Error::stopped.
  [[noreturn]] void run(Context& node);

 private:
  using Work = Function<void()>;

  void put(Work work);
  Future<Work> take();
  void hand_over();
  void took(Duration time);

  std::deque<Work> waiting_{};
  std::optional<Promise<Work>> taker_{};  // run(), while it has no work
  int short_in_row_ = 0;
};

}  // namespace lp
