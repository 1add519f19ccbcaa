#pragma once
// A flow whose events are divided by key and by windows of time. Values; one thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "nodes/operators/group.h"
#include "nodes/stream/record_bag.h"
#include "nodes/windows/window_operator.h"
#include "nodes/windows/windows.h"
#include "programs/pipeline/flow.h"

namespace lp {

// The results of windows, and the events that came too late for them.
template <class Result, class T>
class WindowResults : public Flow<Result> {
 public:
  // For an operator with both outputs.
  explicit WindowResults(Flow<Result> results)
      : Flow<Result>(std::move(results)), late_(Flow<T>(this->graph(), dataflow::late_tails(this->tails()))) {}
  WindowResults(Flow<Result> results, Flow<T> late) : Flow<Result>(std::move(results)), late_(std::move(late)) {}
  const Flow<T>& late() const { return late_; }

 private:
  Flow<T> late_;
};

template <class K, class T>
class WindowedFlow {
 public:
  using TimeOf = std::function<EventTime(const T&)>;

  // Adds up the events of each window: add(sum, event), and merge(sum, other) joins two sessions, or what two replicas
  // have of a window. The sum begins as Sum(). Error::failed when WindowOptions::combine does not fit.
  template <class Sum, class Add, class Merge>
  WindowResults<Windowed<K, Sum>, T> aggregate(Add add, Merge merge) const {
    if (!options_.combine) return sums<Sum>(std::move(add), std::move(merge));
    if constexpr (std::is_trivially_copyable_v<Sum>) {
      return combine<Sum>(std::move(add), std::move(merge));
    } else {
      throw Error(ErrorKind::failed,
                  "WindowOptions::combine is only for sums whose bytes can be copied: others are as large as all their "
                  "events, which one replica needs together");
    }
  }
  // f(key, window, events, out), when a window fires, with a vector of its events.
  template <class U, class F>
  WindowResults<U, T> group(F f) const {
    using Bag = dataflow::RecordBag;
    const auto bags = aggregate<Bag>([](Bag& bag, const T& event) { bag.add(event); },
                                     [](Bag& bag, const Bag& other) { bag.add_bytes(other.bytes, other.count); });
    return WindowResults<U, T>(bags.template flat_map<U>([f = std::move(f)](const Windowed<K, Bag>& one, auto& out) {
      f(one.key, one.window, one.value.template records<T>(), out);
      out.flush();
    }),
                               bags.late());
  }
  // The number of events in each window.
  auto count() const {
    return aggregate<std::uint64_t>([](std::uint64_t& sum, const T&) { ++sum; },
                                    [](std::uint64_t& sum, std::uint64_t other) { sum += other; });
  }

  // f(left, right) makes a record for each pair of events of the same key in the same window. The time of a right event
  // is right_time(event). `split` is as in KeyedFlow::join; Error::failed with sessions, which all events of a key make
  // together.
  template <class B, class RightTime, class F>
  auto join(const KeyedFlow<K, B>& other, RightTime right_time, F f, int split = 1) const {
    using Both = dataflow::Either<T, B>;
    using U = std::decay_t<std::invoke_result_t<const F&, const T&, const B&>>;
    if (split == 1) return join_all<U>(other, right_time, std::move(f));
    if (windows_.kind() == Windows::Kind::session) {
      throw Error(ErrorKind::failed, "a join in sessions cannot be split: their ends depend on all events of a key");
    }
    using Left = dataflow::OfPart<T>;
    using Right = dataflow::OfPart<B>;
    const WindowedFlow<std::string, Left> lefts(
        keyed_.in_parts(split, /*all=*/false), windows_,
        [time_of = time_of_](const Left& one) { return time_of(one.record); }, options_);
    const auto joined = lefts.template join_all<U>(
        other.in_parts(split, /*all=*/true), [right_time](const Right& one) { return right_time(one.record); },
        [f = std::move(f)](const Left& left, const Right& right) { return f(left.record, right.record); });
    const auto late = joined.late().template flat_map<Both>([](const dataflow::Either<Left, Right>& one, auto& out) {
      if (one.left) {
        out(Both{.left = one.left->record});
      } else if (one.right->first()) {
        out(Both{.right = one.right->record});
      }
    });
    return WindowResults<U, Both>(joined, late);
  }
  // Without a split.
  template <class U, class B, class RightTime, class F>
  WindowResults<U, dataflow::Either<T, B>> join_all(const KeyedFlow<K, B>& other, RightTime right_time, F f) const {
    using Both = dataflow::Either<T, B>;
    const auto time_of = [left = time_of_, right_time](const Both& one) -> EventTime {
      return one.left ? left(*one.left) : right_time(*one.right);
    };
    return keyed_.together(other)
        .window(windows_, time_of, options_)
        .template group<U>([pairs = dataflow::EachPair<F>{std::move(f)}](const K&, const Window&,
                                                                         const std::vector<Both>& both, auto& out) {
          const auto [lefts, rights] = dataflow::split(both);
          pairs(lefts, rights, out);
        });
  }

  // For aggregate: without sums before the events are divided.
  template <class Sum, class Add, class Merge>
  WindowResults<Windowed<K, Sum>, T> sums(Add add, Merge merge) const {
    return sums<Sum>(std::move(add), std::move(merge), dataflow::NoParts());
  }
  // Some records are parts of sums: part_of(record) is the window of such a part, or null.
  template <class Sum, class Add, class Merge, class PartOf>
  WindowResults<Windowed<K, Sum>, T> sums(Add add, Merge merge, PartOf part_of) const {
    return WindowResults<Windowed<K, Sum>, T>(keyed_.template behind<Windowed<K, Sum>>(
        maker<Sum>(std::move(add), std::move(merge), std::move(part_of), options_.lateness)));
  }

  WindowedFlow(KeyedFlow<K, T> keyed, Windows windows, TimeOf time_of, WindowOptions options)
      : keyed_(std::move(keyed)), windows_(windows), time_of_(std::move(time_of)), options_(options) {}

 private:
  template <class Sum, class Add, class Merge, class PartOf>
  dataflow::MakeOperator maker(Add add, Merge merge, PartOf part_of, Duration lateness, bool parts = false) const {
    using Functions = dataflow::WindowFunctions<K, T, Sum, typename KeyedFlow<K, T>::KeyOf, TimeOf, PartOf, Add, Merge>;
    const Functions functions{keyed_.key_of(), time_of_, std::move(part_of), std::move(add), std::move(merge)};
    const dataflow::WindowRules rules{windows_, std::chrono::duration_cast<std::chrono::milliseconds>(lateness).count(),
                                      parts};
    return [functions, rules](dataflow::StageSite& site) {
      return std::make_unique<dataflow::WindowOperator<Functions>>(site, functions, rules);
    };
  }
  // A replica with events sends the sum of a window when its own watermark passes the end, or its memory is full; that
  // of a session at each watermark. It does so before it sends the watermark on, so the sum is not late. Events that
  // are late already go as they are, in their order among the sums and watermarks: so a window fires as it does when
  // all events go as they are.
  template <class Sum, class Add, class Merge>
  WindowResults<Windowed<K, Sum>, T> combine(Add add, Merge merge) const {
    using Part = Windowed<K, Sum>;
    using Both = dataflow::Either<Part, T>;
    const auto& graph = keyed_.flow().graph();
    const Flow<Part> parts =
        keyed_.flow().template each<Part>(maker<Sum>(add, merge, dataflow::NoParts(), {}, /*parts=*/true));
    const Flow<Both> both(graph, dataflow::with_late<Part, T>(*graph, parts.tails()));
    const KeyedFlow<K, Both> keyed(
        both, [key_of = keyed_.key_of()](const Both& one) { return one.left ? one.left->key : key_of(*one.right); },
        keyed_.stage());
    const auto time_of = [time_of = time_of_](const Both& one) { return time_of(*one.right); };
    const auto part_of = [](const Both& one) -> const Window* { return one.left ? &one.left->window : nullptr; };
    const auto results = WindowedFlow<K, Both>(keyed, windows_, time_of, {.lateness = options_.lateness})
                             .template sums<Sum>(
                                 [add, merge](Sum& sum, const Both& one) {
                                   if (one.left) {
                                     merge(sum, one.left->value);
                                   } else {
                                     add(sum, *one.right);
                                   }
                                 },
                                 merge, part_of);
    return {results, results.late().template flat_map<T>([](const Both& one, auto& out) {
              if (one.right) out(*one.right);
            })};
  }

  KeyedFlow<K, T> keyed_;
  Windows windows_;
  TimeOf time_of_;
  WindowOptions options_;
};

}  // namespace lp
