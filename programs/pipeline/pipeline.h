#pragma once
// A pipeline: records flow from sources through operators into files or services. It is cut into stages where records
// change their replica, by key; each stage is a group of nodes of the program, and between two cuts the operators are
// plain calls.
//
//     read/0 ─┬─▶ count/0
//     read/1 ─┴─▶ count/1          and each of them ─▶ pipeline, the master
//
//   lp::Pipeline pipeline;
//   pipeline.read({.paths = {"texts/*.txt"}})
//       .flat_map<std::string_view>([](std::string_view line, auto& out) {
//         for (const std::string_view word : lp::words(line)) out(word);
//       })
//       .key_by([](std::string_view word) { return word; })
//       .count()
//       .write("counts", [](const auto& one, lp::Output& out) { out.line(one.first, '\t', one.second); });
//   lp::add_pipeline(program, pipeline, {.replicas = 4});
//
// A batch is a stream that ends: one pipeline does both. Values; one thread.

#include <memory>
#include <string_view>
#include <utility>

#include "lp/program/program.h"
#include "nodes/dataflow/input_files.h"
#include "nodes/dataflow/number.h"
#include "nodes/dataflow/words.h"
#include "nodes/operators/file_source.h"
#include "nodes/operators/follow_source.h"
#include "nodes/operators/generator.h"
#include "nodes/operators/line_listener.h"
#include "nodes/operators/service_source.h"
#include "nodes/stream/pipeline_master.h"
#include "programs/pipeline/flow.h"
#include "programs/pipeline/keyed_flow.h"

namespace lp {

class Pipeline {
 public:
  Pipeline() : graph_(std::make_shared<dataflow::PipelineGraph>()) {}

  // The records of files. The flow ends. Error::failed when no path is given.
  Flow<std::string_view> read(InputOptions input, StageOptions stage = {.name = "read"}) const;
  // The lines of files that grow, and of directories that fill. With one replica, which the stage has unless it names
  // another number, no replica without files holds the watermarks back.
  Flow<std::string_view> follow(FollowOptions options, StageOptions stage = {.name = "follow", .replicas = 1}) const;
  // f(0), f(1), ...: a function of the number alone. Replicas take the numbers in turns.
  template <class F>
  auto generate(F f, GenerateOptions options = {}, StageOptions stage = {.name = "generate"}) const {
    using T = std::decay_t<std::invoke_result_t<const F&, std::uint64_t>>;
    return source<T>(std::move(stage), [f = std::move(f), options](dataflow::StageSite& site) {
      return std::make_unique<dataflow::Generator<T, F>>(site, f, options);
    });
  }

  // The values that a method of a service streams: Stream<T> m(std::uint64_t from), from the value of that number on. A
  // stream without that argument, such as a Feed, may lose values when a node is restarted.
  template <auto M, class S>
  auto subscribe(const Handle<S>& service, StageOptions stage = {.name = "subscribe"}) const {
    using T = typename rpc::TypesOf<S, M>::Result;
    stage.replicas = 1;
    const Flow<T> flow = source<T>(std::move(stage), [service](dataflow::StageSite& site) {
      return std::make_unique<dataflow::ServiceSource<T, S, M>>(site, service.dereference(site.node));
    });
    graph_->stages[flow.tails().front().stage].services.push_back(service.name());
    return flow;
  }

  // A source that somebody else wrote: an operator that is a dataflow::StageSource and a dataflow::Producer<T>.
  template <class T>
  Flow<T> source(StageOptions stage, dataflow::MakeOperator make) const {
    const std::size_t number = graph_->add_stage(std::move(stage));
    return Flow<T>(graph_, {graph_->add(number, {.make = std::move(make)})});
  }

  // For add_pipeline.
  const dataflow::PipelineGraph& graph() const { return *graph_; }

 private:
  std::shared_ptr<dataflow::PipelineGraph> graph_;
};

// Adds the groups of the stages, and the node "pipeline", which ends the program when all sources have ended and all
// results are visible. Error::failed when an option does not fit.
Handle<PipelineMaster> add_pipeline(Program& program, const Pipeline& pipeline, const PipelineOptions& options);

// Adds the node "listener", whose log a pipeline may follow.
Handle<LineListener> add_line_listener(Program& program, const ListenOptions& options);

}  // namespace lp
