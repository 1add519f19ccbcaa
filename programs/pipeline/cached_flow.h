#pragma once
// The records of a flow, sorted by key on disk once, for operators that read them several times: the rounds of an
// iteration, or several joins. Made by KeyedFlow::cache(). Values, which share the pipeline; one thread.

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "nodes/operators/cache.h"
#include "programs/pipeline/flow.h"

namespace lp {

template <class K, class T>
class KeyedFlow;

template <class K, class T>
class CachedFlow {
 public:
  // f(key, cached, others, out), when both flows have ended, once for each key of either. The records of a key, two
  // vectors, are in memory. The stage is the one that the other flow's key_by begins.
  template <class U, class B, class F>
  Flow<U> co_group(const KeyedFlow<K, B>& other, F f) const {
    return behind<U, B>(other.flow().map([](const B& one) { return With<B>{.right = one}; }).tails(), other.key_of(),
                        other.stage(), std::move(f));
  }
  // f(left, right) makes a record, for each pair of a cached record and another one of the same key.
  template <class B, class F>
  auto join(const KeyedFlow<K, B>& other, F f) const {
    using U = std::decay_t<std::invoke_result_t<const F&, const T&, const B&>>;
    return co_group<U>(other,
                       [pairs = dataflow::EachPair<F>{std::move(f)}](const K&, const auto& cached, const auto& others,
                                                                     auto& out) { pairs(cached, others, out); });
  }
  // f(key, records, out), once for each key. The records of a key, a vector, are in memory.
  template <class U, class F>
  Flow<U> group(F f, StageOptions stage = {}) const {
    using None = std::uint8_t;
    return behind<U, None>(
        {}, [](None) { return K(); }, std::move(stage),
        [f = std::move(f)](const K& key, const auto& records, const auto&, auto& out) { f(key, records, out); });
  }

  // For KeyedFlow::cache.
  explicit CachedFlow(Flow<dataflow::SortedRun> runs) : runs_(std::move(runs)) {}

 private:
  template <class B>
  using With = dataflow::Either<dataflow::SortedRun, B>;

  // Behind the cached records and those of `others`.
  template <class U, class B, class KeyOf, class F>
  Flow<U> behind(std::vector<dataflow::Tail> others, KeyOf key_of, StageOptions stage, F f) const {
    Flow<With<B>> both = runs_.map([](const dataflow::SortedRun& run) { return With<B>{.left = run}; });
    both = both.unite(Flow<With<B>>(runs_.graph(), std::move(others)));
    using Join = dataflow::CoGroupCached<K, T, B, U, KeyOf, F>;
    const dataflow::Tail head = dataflow::shuffle<With<B>>(
        *both.graph(), both.tails(), stage,
        [key_of](dataflow::StageSite& site, dataflow::FrameOutput& output) -> std::unique_ptr<dataflow::Operator> {
          return std::make_unique<dataflow::CacheWriter<B, KeyOf>>(site, output, key_of);
        },
        dataflow::make_reader<With<B>>);
    return Flow<U>(both.graph(), {dataflow::append<With<B>>(*both.graph(), head,
                                                            [key_of, f = std::move(f)](dataflow::StageSite& site) {
                                                              return std::make_unique<Join>(site, key_of, f);
                                                            })});
  }

  Flow<dataflow::SortedRun> runs_;
};

}  // namespace lp
