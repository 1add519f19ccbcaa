#pragma once
// A flow whose events are divided by key and by windows of time. Values; one thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "nodes/stream/window_sums.h"
#include "nodes/stream/windows.h"
#include "programs/pipeline/flow.h"

namespace lp {

// The results of windows, and the events that came too late for them.
template <class Result, class T>
class WindowResults : public Flow<Result> {
 public:
  explicit WindowResults(Flow<Result> results) : Flow<Result>(std::move(results)) {}
  Flow<T> late() const {
    std::vector<dataflow::Tail> tails = this->tails();
    for (dataflow::Tail& one : tails) one.late = true;
    return Flow<T>(this->graph(), std::move(tails));
  }
};

template <class K, class T>
class WindowedFlow {
 public:
  using TimeOf = std::function<EventTime(const T&)>;

  // Adds up the events of each window: add(sum, event); merge(sum, other) joins two sessions. The sum begins as Sum().
  template <class Sum, class Add, class Merge>
  WindowResults<Windowed<K, Sum>, T> aggregate(Add add, Merge merge) const {
    using Functions = dataflow::WindowFunctions<K, T, Sum, typename KeyedFlow<K, T>::KeyOf, TimeOf, Add, Merge>;
    const Functions functions{
        keyed_.key_of(),  time_of_, std::move(add),
        std::move(merge), windows_, std::chrono::duration_cast<std::chrono::milliseconds>(options_.lateness).count()};
    return WindowResults<Windowed<K, Sum>, T>(Flow<Windowed<K, Sum>>(
        keyed_.flow().graph(),
        {dataflow::append<T>(*keyed_.flow().graph(), keyed_.by_key(),
                             [functions](dataflow::StageSite&) -> std::unique_ptr<dataflow::Operator> {
                               if (functions.windows.kind() == Windows::Kind::session) {
                                 return std::make_unique<dataflow::SessionWindows<Functions>>(functions);
                               }
                               return std::make_unique<dataflow::FixedWindows<Functions>>(functions);
                             })}));
  }
  // The number of events in each window.
  auto count() const {
    return aggregate<std::uint64_t>([](std::uint64_t& sum, const T&) { ++sum; },
                                    [](std::uint64_t& sum, std::uint64_t other) { sum += other; });
  }

  WindowedFlow(KeyedFlow<K, T> keyed, Windows windows, TimeOf time_of, WindowOptions options)
      : keyed_(std::move(keyed)), windows_(windows), time_of_(std::move(time_of)), options_(options) {}

 private:
  KeyedFlow<K, T> keyed_;
  Windows windows_;
  TimeOf time_of_;
  WindowOptions options_;
};

}  // namespace lp
