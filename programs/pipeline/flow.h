#pragma once
// A flow of records through a pipeline, while the pipeline is built: each call adds an operator and returns the flow
// behind it. A flow that is used twice goes both ways. Functions are copied into every replica; they take records by
// const reference or by value, and depend on their arguments alone.
//
// A std::string_view in a record is valid as long as the function that takes it runs.
//
// Values, which share the pipeline; one thread.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/program/handle.h"
#include "nodes/operators/aggregate.h"
#include "nodes/operators/event_times.h"
#include "nodes/operators/file_sink.h"
#include "nodes/operators/service_sink.h"
#include "nodes/operators/shuffle.h"
#include "nodes/operators/sort.h"
#include "nodes/operators/transforms.h"
#include "programs/pipeline/pipeline_graph.h"

namespace lp {

template <class K, class T>
class KeyedFlow;

template <class T>
class TimedFlow;

// The part of a flow that does not depend on its records.
class AnyFlow {
 public:
  AnyFlow(std::shared_ptr<dataflow::PipelineGraph> graph, std::vector<dataflow::Tail> tails);
  AnyFlow(const AnyFlow& other);
  AnyFlow(AnyFlow&& other) noexcept;
  AnyFlow& operator=(const AnyFlow& other);
  AnyFlow& operator=(AnyFlow&& other) noexcept;
  ~AnyFlow();

  const std::shared_ptr<dataflow::PipelineGraph>& graph() const { return graph_; }
  const std::vector<dataflow::Tail>& tails() const { return tails_; }

 protected:
  void add_tails(const AnyFlow& other);
  // Behind an operator that is added to each tail.
  AnyFlow behind(const dataflow::MakeOperator& make, const dataflow::Connectors& connectors) const;

 private:
  std::shared_ptr<dataflow::PipelineGraph> graph_;
  std::vector<dataflow::Tail> tails_;
};

template <class T>
class Flow : public AnyFlow {
 public:
  using Record = T;

  // f(record) makes a record.
  template <class F>
  auto map(F f) const {
    using U = std::decay_t<std::invoke_result_t<const F&, const T&>>;
    return flat_map<U>([f = std::move(f)](const T& record, auto& out) { out(f(record)); });
  }
  // Keeps the records for which f(record) is true.
  template <class F>
  Flow filter(F f) const {
    return flat_map<T>([f = std::move(f)](const T& record, auto& out) {
      if (f(record)) out(record);
    });
  }
  // f(record, out) makes any number of records: out(U).
  template <class U, class F>
  Flow<U> flat_map(F f) const {
    return each<U>([f = std::move(f)](dataflow::StageSite& site) {
      return std::make_unique<dataflow::FlatMap<T, U, F>>(site, f);
    });
  }
  // Says when the events of a stream happened: time_of(record). They come in about that order: an event comes after
  // others that are at most `disorder` later. Windows need it. An event that is later than all before it by more than
  // `ahead` is from the future, unless the next ones are, too: see dataflow::EventTimes.
  template <class F>
  TimedFlow<T> event_time(F time_of, Duration disorder = {}, Duration ahead = std::chrono::hours(24)) const {
    const auto milliseconds = [](Duration time) {
      return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
    };
    return TimedFlow<T>(each<T>([time_of = std::move(time_of), late = milliseconds(disorder),
                                 early = milliseconds(ahead)](dataflow::StageSite& site) {
      return std::make_unique<dataflow::EventTimes<T, F>>(site, time_of, late, early);
    }));
  }
  // The records of both flows.
  Flow unite(const Flow& other) const {
    Flow out = *this;
    out.add_tails(other);
    return out;
  }
  // The next operator takes the records of each key together, and begins a new stage: key_of(record) is a text, an
  // integer or a double.
  template <class F>
  auto key_by(F key_of, StageOptions stage = {}) const {
    using K = std::decay_t<std::invoke_result_t<const F&, const T&>>;
    static_assert(dataflow::Key<K>, "lp: a key is a std::string_view or std::string, an integer, or a double");
    return KeyedFlow<K, T>(
        *this, [key_of](const T& record) -> K { return key_of(record); }, std::move(stage));
  }
  // Begins a new stage, whose replicas take the records in turns.
  Flow rebalance(StageOptions stage = {}) const {
    using Way = dataflow::ShuffleWriter<T, dataflow::InTurns>;
    return Flow(
        graph(),
        {dataflow::shuffle<T>(
            *graph(), tails(), stage,
            [](dataflow::StageSite& site, dataflow::FrameOutput& output) -> std::unique_ptr<dataflow::Operator> {
              return std::make_unique<Way>(site, output, dataflow::InTurns());
            },
            dataflow::make_reader<T>)});
  }
  // The records in the order of key_of(record), when the flow has ended: each replica of the stage has a range of the
  // keys, in the order of the replicas. Records with equal keys come in an order that depends on them alone. They go
  // from one stage to the other through sorted runs in PipelineOptions::scratch.
  template <class F>
  Flow sort(F key_of, StageOptions stage = {}) const {
    using K = std::decay_t<std::invoke_result_t<const F&, const T&>>;
    static_assert(dataflow::Key<K>, "lp: a key is a std::string_view or std::string, an integer, or a double");
    using dataflow::RangedRun;
    graph()->shares_runs = true;
    const Flow<RangedRun> runs = each<RangedRun>([key_of = std::move(key_of)](dataflow::StageSite& site) {
      return std::make_unique<dataflow::SortIntoRuns<K, T, F>>(site, key_of);
    });
    const dataflow::Tail head = dataflow::shuffle<RangedRun>(
        *graph(), runs.tails(), stage,
        [](dataflow::StageSite&, dataflow::FrameOutput& output) -> std::unique_ptr<dataflow::Operator> {
          return std::make_unique<dataflow::GiveRuns>(output);
        },
        dataflow::make_reader<RangedRun>);
    return Flow(graph(), {dataflow::append<RangedRun>(*graph(), head, [](dataflow::StageSite& site) {
                  return std::make_unique<dataflow::MergeRange<K, T>>(site);
                })});
  }
  // Writes files into a directory: f(record, out), where out is an lp::Output&. The visible files have the
  // effect of every record once.
  template <class F>
  void write(std::filesystem::path into, F f) const {
    if (into.empty()) throw Error(ErrorKind::failed, "results need a directory, which no flag or option names");
    graph()->results.push_back(into);
    each<T>([into = std::move(into), f = std::move(f)](dataflow::StageSite& site) {
      return std::make_unique<dataflow::FileSink<T, F>>(site, into, f);
    });
  }

  // Hands the records to a method of a service, once each: M is a `once` method that takes a std::vector<T>. It gets
  // the records of a checkpoint when that is complete.
  template <auto M, class S>
  void call(const Handle<S>& service) const {
    for (const dataflow::Tail& one : tails()) graph()->stages[one.stage].services.push_back(service.name());
    each<T>([service](dataflow::StageSite& site) {
      return std::make_unique<dataflow::ServiceSink<T, S, M>>(site, service.dereference(site.node));
    });
  }

  // For the operators of this folder.
  template <class U>
  Flow<U> each(const dataflow::MakeOperator& make) const {
    return Flow<U>(behind(make, dataflow::kConnectors<T>));
  }
  using AnyFlow::AnyFlow;
  explicit Flow(AnyFlow flow) : AnyFlow(std::move(flow)) {}
};

// The events of a stream with times.
template <class T>
class TimedFlow : public Flow<T> {
 public:
  explicit TimedFlow(Flow<T> flow) : Flow<T>(std::move(flow)) {}
  // Those from the future. Without a use of it they are counted, and dropped.
  Flow<T> future() const { return Flow<T>(this->graph(), dataflow::late_tails(this->tails())); }
};

}  // namespace lp
