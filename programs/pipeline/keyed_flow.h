#pragma once
// A flow whose records have keys. Each call begins a stage whose replicas own the keys. Values; one thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "lp/base/error.h"
#include "nodes/dataflow/key_codec.h"
#include "nodes/operators/group.h"
#include "nodes/operators/keyed_state.h"
#include "nodes/windows/windows.h"
#include "programs/pipeline/cached_flow.h"
#include "programs/pipeline/flow.h"
#include "programs/pipeline/windowed_flow.h"

namespace lp {

template <class K, class T>
class KeyedFlow {
 public:
  using KeyOf = std::function<K(const T&)>;

  // Adds up the records of each key, until the flow ends: add(sum, record) and merge(sum, other). The sum begins as
  // Sum(), and its bytes are copied. The results come in the order of the keys.
  template <class Sum, class Add, class Merge>
  Flow<std::pair<K, Sum>> aggregate(Add add, Merge merge) const {
    static_assert(std::is_trivially_copyable_v<Sum>,
                  "lp: a sum that is aggregated is trivially copyable; else use group");
    using Part = std::pair<std::string_view, std::string_view>;
    using Way = dataflow::CombiningWriter<K, T, Sum, KeyOf, Add>;
    const dataflow::Tail head = dataflow::shuffle<T>(
        *flow_.graph(), flow_.tails(), stage_,
        [key_of = key_of_, add](dataflow::StageSite& site, dataflow::FrameOutput& output)
            -> std::unique_ptr<dataflow::Operator> { return std::make_unique<Way>(site, output, key_of, add); },
        dataflow::make_reader<Part>);
    return Flow<std::pair<K, Sum>>(flow_.graph(),
                                   {dataflow::append<Part>(*flow_.graph(), head, [merge](dataflow::StageSite& site) {
                                     return std::make_unique<dataflow::SumByKey<K, Sum, Merge>>(site, merge);
                                   })});
  }

  // The number of records of each key.
  Flow<std::pair<K, std::uint64_t>> count() const {
    return aggregate<std::uint64_t>([](std::uint64_t& sum, const T&) { ++sum; },
                                    [](std::uint64_t& sum, std::uint64_t other) { sum += other; });
  }
  // Joins the records of each key into one: f(record, other), in any grouping and order.
  template <class F>
  Flow<std::pair<K, T>> reduce(F f) const {
    struct Sum {
      T value{};
      bool any = false;
    };
    const auto merge = [f](Sum& sum, const Sum& other) {
      sum = sum.any ? Sum{f(sum.value, other.value), true} : other;
    };
    return aggregate<Sum>(
               [merge](Sum& sum, const T& record) {
                 merge(sum, Sum{record, true});
               },
               merge)
        .map([](const std::pair<K, Sum>& one) { return std::pair<K, T>(one.first, one.second.value); });
  }

  // f(key, records, out), when the flow has ended, once for each key, in the order of the keys: see lp::Records.
  template <class U, class F>
  Flow<U> group(F f) const {
    return behind<U>([key_of = key_of_, f = std::move(f)](dataflow::StageSite& site) {
      return std::make_unique<dataflow::GroupByKey<K, T, U, KeyOf, F>>(site, key_of, f);
    });
  }
  // f(key, lefts, rights, out), when both flows have ended, once for each key of either. The records of a key, two
  // vectors, are in memory.
  template <class U, class B, class F>
  Flow<U> co_group(const KeyedFlow<K, B>& other, F f) const {
    const auto both = together(other);
    using Join = dataflow::CoGroupByKey<K, T, B, U, std::decay_t<decltype(both.key_of())>, F>;
    return both.template behind<U>([key_of = both.key_of(), f = std::move(f)](dataflow::StageSite& site) {
      return std::make_unique<Join>(site, key_of, f);
    });
  }
  // f(left, right) makes a record, for each pair of records of the same key, when both flows have ended. When a key has
  // many of the left records, a `split` divides them among so many replicas, and sends the right records of every key
  // to all of these. Error::failed when it is not from 1 to 128.
  template <class B, class F>
  auto join(const KeyedFlow<K, B>& other, F f, int split = 1) const {
    using U = std::decay_t<std::invoke_result_t<const F&, const T&, const B&>>;
    if (split == 1) return join_all<U>(other, std::move(f));
    return in_parts(split, /*all=*/false)
        .template join_all<U>(other.in_parts(split, /*all=*/true),
                              [f = std::move(f)](const dataflow::OfPart<T>& left, const dataflow::OfPart<B>& right) {
                                return f(left.record, right.record);
                              });
  }
  // Without a split.
  template <class U, class B, class F>
  Flow<U> join_all(const KeyedFlow<K, B>& other, F f) const {
    return co_group<U>(other,
                       [pairs = dataflow::EachPair<F>{std::move(f)}](const K&, const auto& lefts, const auto& rights,
                                                                     auto& out) { pairs(lefts, rights, out); });
  }
  // The records, sorted by key on disk once, for several operators that read them there.
  CachedFlow<K, T> cache() const {
    flow_.graph()->shares_runs = true;
    return CachedFlow<K, T>(behind<dataflow::SortedRun>([key_of = key_of_](dataflow::StageSite& site) {
      return std::make_unique<dataflow::CacheByKey<K, T, KeyOf>>(site, key_of);
    }));
  }
  // f(key, state, record, out), at once for each record. The state of a key begins as State().
  template <class State, class U, class F>
  Flow<U> with_state(F f) const {
    return behind<U>([key_of = key_of_, f = std::move(f)](dataflow::StageSite& site) {
      return std::make_unique<dataflow::KeyedState<K, T, State, U, KeyOf, F>>(site, key_of, f);
    });
  }

  // Both flows as one, by key.
  template <class B>
  KeyedFlow<K, dataflow::Either<T, B>> together(const KeyedFlow<K, B>& other) const {
    using Both = dataflow::Either<T, B>;
    const Flow<Both> lefts = flow_.map([](const T& one) { return Both{.left = one}; });
    const Flow<Both> rights = other.flow().map([](const B& one) { return Both{.right = one}; });
    return {lefts.unite(rights),
            [left = key_of_, right = other.key_of()](const Both& one) {
              return one.left ? left(*one.left) : right(*one.right);
            },
            stage_};
  }

  // Divides the events of each key by their times, time_of(record): see Flow::event_time.
  template <class F>
  WindowedFlow<K, T> window(Windows windows, F time_of, WindowOptions options = {}) const {
    return {*this, windows, [time_of = std::move(time_of)](const T& record) -> EventTime { return time_of(record); },
            options};
  }

  // Each key as several ones: a record goes to the next of them, or to all.
  KeyedFlow<std::string, dataflow::OfPart<T>> in_parts(int parts, bool all) const {
    using Record = dataflow::OfPart<T>;
    if (parts < 1 || parts > static_cast<int>(dataflow::kKeyGroups)) {
      throw Error(ErrorKind::failed, "a join is split among 1 to " + std::to_string(dataflow::kKeyGroups) + " parts");
    }
    return flow_
        .template flat_map<Record>([key_of = key_of_, parts, all, next = 0](const T& record, auto& out) mutable {
          const K key = key_of(record);
          std::string bytes(dataflow::KeyBytes<K>(key).view());
          bytes.push_back('\0');
          for (int part = all ? 0 : next; part < (all ? parts : next + 1); ++part) {
            bytes.back() = static_cast<char>(part);
            out({bytes, record});
          }
          next = next + 1 < parts ? next + 1 : 0;
        })
        .key_by([](const Record& one) { return one.key; }, stage_);
  }
  // The records in a stage whose replicas own their keys.
  dataflow::Tail by_key() const {
    using Way = dataflow::ShuffleWriter<T, dataflow::ByKey<KeyOf>>;
    return dataflow::shuffle<T>(
        *flow_.graph(), flow_.tails(), stage_,
        [key_of = key_of_](dataflow::StageSite& site,
                           dataflow::FrameOutput& output) -> std::unique_ptr<dataflow::Operator> {
          return std::make_unique<Way>(site, output, dataflow::ByKey<KeyOf>(key_of));
        },
        dataflow::make_reader<T>);
  }
  // The operator that is made there.
  template <class U>
  Flow<U> behind(dataflow::MakeOperator make) const {
    return Flow<U>(flow_.graph(), {dataflow::append<T>(*flow_.graph(), by_key(), std::move(make))});
  }
  const Flow<T>& flow() const { return flow_; }
  const KeyOf& key_of() const { return key_of_; }
  const StageOptions& stage() const { return stage_; }

  KeyedFlow(Flow<T> flow, KeyOf key_of, StageOptions stage)
      : flow_(std::move(flow)), key_of_(std::move(key_of)), stage_(std::move(stage)) {}

 private:
  Flow<T> flow_;
  KeyOf key_of_;
  StageOptions stage_;
};

}  // namespace lp
