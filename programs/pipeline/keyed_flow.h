#pragma once
// A flow whose records have keys. Each call begins a stage whose replicas own the keys. Values; one thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "nodes/stream/windows.h"
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
        [key_of = key_of_, add](dataflow::StageSite& site,
                                dataflow::FrameOutput& output) -> std::unique_ptr<dataflow::Operator> {
          return std::make_unique<Way>(output, key_of, add, site.options.memory / 4);
        },
        [](dataflow::StageSite&) { return std::make_unique<dataflow::ShuffleReader<Part>>(); });
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

  // Divides the events of each key by their times, time_of(record): see Flow::event_time.
  template <class F>
  WindowedFlow<K, T> window(Windows windows, F time_of, WindowOptions options = {}) const {
    return {*this, windows, [time_of = std::move(time_of)](const T& record) -> EventTime { return time_of(record); },
            options};
  }

  // The records in a stage whose replicas own their keys.
  dataflow::Tail by_key() const {
    using Way = dataflow::ShuffleWriter<T, dataflow::ByKey<KeyOf>>;
    return dataflow::shuffle<T>(
        *flow_.graph(), flow_.tails(), stage_,
        [key_of = key_of_](dataflow::StageSite&, dataflow::FrameOutput& output) -> std::unique_ptr<dataflow::Operator> {
          return std::make_unique<Way>(output, dataflow::ByKey<KeyOf>(key_of));
        },
        [](dataflow::StageSite&) { return std::make_unique<dataflow::ShuffleReader<T>>(); });
  }
  const Flow<T>& flow() const { return flow_; }
  const KeyOf& key_of() const { return key_of_; }

  KeyedFlow(Flow<T> flow, KeyOf key_of, StageOptions stage)
      : flow_(std::move(flow)), key_of_(std::move(key_of)), stage_(std::move(stage)) {}

 private:
  Flow<T> flow_;
  KeyOf key_of_;
  StageOptions stage_;
};

}  // namespace lp
