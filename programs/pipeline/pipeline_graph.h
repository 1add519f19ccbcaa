#pragma once
// A pipeline while it is built: operators in stages, and the ways between them. Shared by the flows that build it; one
// thread.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nodes/operators/late_events.h"
#include "nodes/operators/shuffle.h"
#include "nodes/operators/with_late.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"

namespace lp {

struct StageOptions {
  std::string name{};  // its group of nodes has it; without one, "stage" and a number; a second "read" is "read2"
  int replicas = 0;    // 0: PipelineOptions::replicas
};

namespace dataflow {

// The end of a flow so far: an operator, and which of its outputs.
struct Tail {
  std::size_t stage = 0;
  std::size_t op = 0;
  bool late = false;  // its late events, or those from the future
};
// The second outputs of the same operators.
std::vector<Tail> late_tails(std::vector<Tail> tails);

struct StageDraft {
  StageOptions options{};
  std::vector<OperatorPlan> operators{};
  std::vector<std::size_t> senders{};  // stage at each input
  std::vector<StagePlan::Output> outputs{};
  std::vector<std::string> services{};  // nodes that the stage calls
};

struct PipelineGraph {
  std::vector<StageDraft> stages{};
  bool shares_runs = false;                      // replicas read the sorted runs of others
  std::vector<std::string> inputs{};             // files, directories and globs that sources read
  std::vector<std::filesystem::path> results{};  // directories that sinks write into
  std::size_t add_stage(StageOptions options);
  Tail add(std::size_t stage, OperatorPlan plan);
};

// Connects a consumer of T behind a producer of T.
template <class T>
void connect(Operator& parent, Operator& self) {
  dynamic_cast<Producer<T>&>(parent).add(dynamic_cast<Consumer<T>&>(self));
}

template <class T>
void connect_late(Operator& parent, Operator& self) {
  dynamic_cast<LateEvents<T>&>(parent).add_late(dynamic_cast<Consumer<T>&>(self));
}

using MakeOperator = std::function<std::unique_ptr<Operator>(StageSite& site)>;

// How operators that take T are put behind operators that make T.
struct Connectors {
  void (*records)(Operator& parent, Operator& self);
  void (*late)(Operator& parent, Operator& self);
};
template <class T>
inline constexpr Connectors kConnectors{connect<T>, connect_late<T>};

Tail append(PipelineGraph& graph, const Tail& tail, MakeOperator make, const Connectors& connectors);
// Adds an operator that takes T behind an operator that makes T.
template <class T>
Tail append(PipelineGraph& graph, const Tail& tail, MakeOperator make) {
  return append(graph, tail, std::move(make), kConnectors<T>);
}

// Makes one of both outputs of operators whose records are T.
template <class T, class Late>
std::vector<Tail> with_late(PipelineGraph& graph, const std::vector<Tail>& tails) {
  using Both = WithLate<T, Late>;
  std::vector<Tail> out;
  for (const Tail& tail : tails) {
    out.push_back(graph.add(
        tail.stage,
        {.make = [](StageSite&) { return std::make_unique<Both>(); }, .parent = tail.op, .connect = Both::connect}));
  }
  return out;
}

using MakeWriter = std::function<std::unique_ptr<Operator>(StageSite& site, FrameOutput& output)>;
Tail shuffle(PipelineGraph& graph, const std::vector<Tail>& tails, const StageOptions& options,
             const MakeWriter& make_writer, MakeOperator make_reader, const Connectors& connectors);
// The way from the tails of a flow into a new stage: `make_writer(output)` makes the last operators of the old stages.
template <class T>
Tail shuffle(PipelineGraph& graph, const std::vector<Tail>& tails, const StageOptions& options,
             const MakeWriter& make_writer, MakeOperator make_reader) {
  return shuffle(graph, tails, options, make_writer, std::move(make_reader), kConnectors<T>);
}

}  // namespace dataflow
}  // namespace lp
