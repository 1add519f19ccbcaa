#include "programs/pipeline/pipeline.h"

#include <algorithm>
#include <string>
#include <vector>

#include "lp/base/error.h"

namespace lp {
namespace dataflow {

std::vector<Tail> late_tails(std::vector<Tail> tails) {
  for (Tail& one : tails) one.late = true;
  return tails;
}

std::size_t PipelineGraph::add_stage(StageOptions options) {
  stages.push_back({.options = std::move(options)});
  return stages.size() - 1;
}

Tail PipelineGraph::add(std::size_t stage, OperatorPlan plan) {
  stages[stage].operators.push_back(std::move(plan));
  return {.stage = stage, .op = stages[stage].operators.size() - 1};
}

Tail append(PipelineGraph& graph, const Tail& tail, MakeOperator make, const Connectors& connectors) {
  return graph.add(
      tail.stage,
      {.make = std::move(make), .parent = tail.op, .connect = tail.late ? connectors.late : connectors.records});
}

Tail shuffle(PipelineGraph& graph, const std::vector<Tail>& tails, const StageOptions& options,
             const MakeWriter& make_writer, MakeOperator make_reader, const Connectors& connectors) {
  const std::size_t to = graph.add_stage(options);
  for (const Tail& tail : tails) {
    StageDraft& from = graph.stages[tail.stage];
    const std::size_t output = from.outputs.size();
    from.outputs.push_back({.stage = to, .input = static_cast<std::uint32_t>(graph.stages[to].senders.size())});
    graph.stages[to].senders.push_back(tail.stage);
    append(
        graph, tail, [make_writer, output](StageSite& site) { return make_writer(site, *site.outputs[output]); },
        connectors);
  }
  return graph.add(to, {.make = std::move(make_reader)});
}

}  // namespace dataflow

namespace {

void need(bool fits, const std::string& what) {
  if (!fits) throw Error(ErrorKind::failed, "a pipeline needs " + what);
}

void need_input(const std::vector<std::string>& paths) {
  const auto empty = [](const std::string& path) { return path.empty(); };
  need(!std::all_of(paths.begin(), paths.end(), empty), "input: files, directories or globs");
}

std::uint32_t replicas_of(const dataflow::StageDraft& stage, const PipelineOptions& options) {
  return static_cast<std::uint32_t>(stage.options.replicas > 0 ? stage.options.replicas : options.replicas);
}

std::string name_of(const dataflow::PipelineGraph& graph, std::size_t stage) {
  const std::string& name = graph.stages[stage].options.name;
  if (name.empty()) return "stage" + std::to_string(stage);
  const auto end = graph.stages.begin() + static_cast<std::ptrdiff_t>(stage);
  const auto same = std::count_if(graph.stages.begin(), end,
                                  [&](const dataflow::StageDraft& one) { return one.options.name == name; });
  return same == 0 ? name : name + std::to_string(same + 1);
}

// A source would read what a sink has written, and perhaps without an end.
void check_results(const dataflow::PipelineGraph& graph) {
  for (const std::filesystem::path& one : graph.results) {
    const std::string input = input_around(graph.inputs, one);
    if (input.empty()) continue;
    throw Error(ErrorKind::failed, "the results in " + one.string() + " would be input of the pipeline, which reads " +
                                       input + ": name a directory outside of the input, or one in it whose name " +
                                       "begins with '_'");
  }
}

void check(const dataflow::PipelineGraph& graph, const PipelineOptions& options) {
  need(!graph.stages.empty(), "a source");
  need(options.replicas > 0, "1 replica of a stage at least");
  check_results(graph);
  need(options.memory >= std::uint64_t{1} << 20, "1 MiB of memory for an operator at least");
  for (std::size_t i = 0; i < graph.stages.size(); ++i) {
    need(replicas_of(graph.stages[i], options) <= dataflow::kKeyGroups,
         std::to_string(dataflow::kKeyGroups) + " replicas of a stage at most; " + name_of(graph, i) + " has more");
  }
}

dataflow::StagePlan plan_of(const dataflow::PipelineGraph& graph, std::size_t stage, const PipelineOptions& options) {
  const dataflow::StageDraft& draft = graph.stages[stage];
  dataflow::StagePlan plan{.name = name_of(graph, stage),
                           .replicas = replicas_of(draft, options),
                           .operators = draft.operators,
                           .outputs = draft.outputs};
  for (dataflow::StagePlan::Output& one : plan.outputs) one.name = name_of(graph, one.stage);
  for (const std::size_t sender : draft.senders) plan.senders.push_back(replicas_of(graph.stages[sender], options));
  return plan;
}

// Puts the first replicas of all stages into one process, and so on.
void share_processes(Program& program, const std::vector<GroupHandle<StageNode>>& groups) {
  const auto most =
      std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  for (int replica = 0; replica < most->size(); ++replica) {
    for (const auto& group : groups) {
      if (&group != &*most && replica < group.size()) program.colocate((*most)[replica], group[replica]);
    }
  }
}

}  // namespace

AnyFlow::AnyFlow(std::shared_ptr<dataflow::PipelineGraph> graph, std::vector<dataflow::Tail> tails)
    : graph_(std::move(graph)), tails_(std::move(tails)) {}
AnyFlow::AnyFlow(const AnyFlow& other) = default;
AnyFlow::AnyFlow(AnyFlow&& other) noexcept = default;
AnyFlow& AnyFlow::operator=(const AnyFlow& other) = default;
AnyFlow& AnyFlow::operator=(AnyFlow&& other) noexcept = default;
AnyFlow::~AnyFlow() = default;

void AnyFlow::add_tails(const AnyFlow& other) {
  const std::vector<dataflow::Tail> more = other.tails_;  // it may be this flow
  tails_.insert(tails_.end(), more.begin(), more.end());
}

AnyFlow AnyFlow::behind(const dataflow::MakeOperator& make, const dataflow::Connectors& connectors) const {
  std::vector<dataflow::Tail> tails;
  for (const dataflow::Tail& one : tails_) tails.push_back(dataflow::append(*graph_, one, make, connectors));
  return {graph_, std::move(tails)};
}

Flow<std::string_view> Pipeline::read(InputOptions input, StageOptions stage) const {
  need_input(input.paths);
  graph_->inputs.insert(graph_->inputs.end(), input.paths.begin(), input.paths.end());
  return source<std::string_view>(std::move(stage), [input = std::move(input)](dataflow::StageSite& site) {
    return std::make_unique<dataflow::FileSource>(site, input);
  });
}

Flow<std::string_view> Pipeline::follow(FollowOptions options, StageOptions stage) const {
  need_input(options.paths);
  graph_->inputs.insert(graph_->inputs.end(), options.paths.begin(), options.paths.end());
  return source<std::string_view>(std::move(stage), [options = std::move(options)](dataflow::StageSite& site) {
    return std::make_unique<dataflow::FollowSource>(site, options);
  });
}

Handle<PipelineMaster> add_pipeline(Program& program, const Pipeline& pipeline, const PipelineOptions& options) {
  const dataflow::PipelineGraph& graph = pipeline.graph();
  check(graph, options);
  if (!options.from.empty()) program.take_over(options.from);
  const FailurePolicy policy = options.restarts > 0 ? restart(options.restarts, options.restart_after) : stop_program();
  std::vector<GroupHandle<StageNode>> groups;
  for (std::size_t i = 0; i < graph.stages.size(); ++i) {
    groups.push_back(
        program.declare_group<StageNode>({.name = name_of(graph, i),
                                          .replicas = static_cast<int>(replicas_of(graph.stages[i], options)),
                                          .on_failure = policy}));
  }
  auto master = program.add<PipelineMaster>({.name = "pipeline", .on_failure = policy, .ends_program = true}, context,
                                            groups, options, graph.shares_runs);
  for (std::size_t i = 0; i < graph.stages.size(); ++i) {
    std::vector<GroupHandle<StageNode>> outputs;
    for (const dataflow::StagePlan::Output& one : graph.stages[i].outputs) outputs.push_back(groups[one.stage]);
    program.define(groups[i], context, master, plan_of(graph, i, options), options, outputs,
                   StageServices{graph.stages[i].services});
  }
  if (options.share_processes && groups.size() > 1) share_processes(program, groups);
  return master;
}

Handle<LineListener> add_line_listener(Program& program, const ListenOptions& options) {
  return program.add<LineListener>({.name = "listener", .on_failure = restart(3)}, context, options);
}

}  // namespace lp
