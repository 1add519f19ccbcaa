#include "nodes/stream/pipeline_master.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/text.h"
#include "lp/checkpoint/cut.h"

namespace lp {

using dataflow::EdgeCounts;

namespace {

void add_to(std::vector<EdgeCounts>& edges, const std::vector<EdgeCounts>& more) {
  for (const EdgeCounts& one : more) {
    const auto same = [&](const EdgeCounts& edge) { return edge.from == one.from && edge.to == one.to; };
    const auto at = std::find_if(edges.begin(), edges.end(), same);
    if (at == edges.end()) {
      edges.push_back(one);
    } else {
      at->add(one);
    }
  }
}

}  // namespace

PipelineMaster::PipelineMaster(Context& node, std::vector<Clients<StageNode>> stages, PipelineOptions options,
                               bool shared_runs)
    : context_(node),
      stages_(std::move(stages)),
      options_(std::move(options)),
      shared_runs_(shared_runs),
      begun_(now()) {
  for (const Clients<StageNode>& stage : stages_) nodes_ += stage.size();
}

void PipelineMaster::run(Context& node) {
  if (cut_ == 0 && !options_.from.empty()) take_over();
  if (shared_runs_ && cut_ == 0) check_scratch();
  while (!node.stopping()) {
    wait_for_turn();
    const bool last = all_ended();
    if (last)
      keep(commit(cut_, false));  // so the last checkpoint has them: it may be restored before the result is read
    if (!checkpoint() || !last) continue;
    commit(cut_, true);
    break;
  }
}

// Goes on from the last cut of another run.
void PipelineMaster::take_over() {
  const std::optional<Cut> cut = latest_cut(options_.from);
  if (!cut) return;  // the stages miss it
  cut_ = cut->step;
  const auto own = [this](const CutMember& one) { return one.node == context_.name(); };
  if (std::none_of(cut->members.begin(), cut->members.end(), own)) return;
  if (!read_cut_file(cut->directory, context_.name()).get<bool>("over")) return;
  fail("the run in " + options_.from.string() + " has come to the end of its input, and has made all its results, so " +
       "nothing can go on from it: begin without PipelineOptions::from, with another directory for the results");
}

void PipelineMaster::fail(const std::string& text) const {
  context_.fail_program(text);
  throw Error(ErrorKind::stopped, text);
}

// Ends the program when a replica does not see the scratch folder of another one, which may be on another host.
void PipelineMaster::check_scratch() {
  const std::string file = stages_.front()[0].call<&StageNode::show_scratch>();
  for (const Clients<StageNode>& stage : stages_) {
    for (const Client<StageNode>& one : stage) {
      const std::string blind = one.call<&StageNode::blind_to>(file);
      if (blind.empty()) continue;
      fail(blind + " does not see the file " + file + " of another node, but sort and cache hand on their records in " +
           "such files: let PipelineOptions::scratch name a folder that all hosts see");
    }
  }
}

// Waits until the next cut is due: at once when all stages have ended, unless the one before failed.
void PipelineMaster::wait_for_turn() {
  const Time retry = after(pause());
  while (!passed(retry)) signal_.wait(until(retry));
  const Time next = after(options_.checkpoint_every - pause());
  while (!all_ended() && !passed(next)) signal_.wait(until(next));
}

// A disk that is full may have room again. It doubles with each failure.
Duration PipelineMaster::pause() const {
  constexpr Duration kFirst = std::chrono::milliseconds(100), kLongest = std::chrono::seconds(10);
  if (failed_ == 0) return {};
  return std::min(kLongest, kFirst * (1 << std::min(failed_ - 1, 10)));
}

// Returns whether it is complete.
bool PipelineMaster::checkpoint() {
  const std::uint64_t cut = ++cut_;
  over_ = all_ended();
  for (const Clients<StageNode>& stage : stages_) stage.all<&StageNode::begin_cut>(cut);
  context_.checkpoint(cut);
  if (!context_.wait_for_cut(cut)) {
    ++failed_;
    return false;
  }
  failed_ = 0;
  keep(commit(cut, false));
  context_.report({.step = cut});
  const std::lock_guard lock(mutex_);
  complete_ = cut;
  return true;
}

void PipelineMaster::keep(std::vector<EdgeCounts> edges) {
  const std::lock_guard lock(mutex_);
  edges_ = std::move(edges);
}

std::vector<EdgeCounts> PipelineMaster::commit(std::uint64_t cut, bool over) {
  std::vector<Future<std::vector<EdgeCounts>>> visible;
  for (const Clients<StageNode>& stage : stages_) {
    for (const Client<StageNode>& one : stage) visible.push_back(one.async<&StageNode::commit>(cut, over));
  }
  std::vector<EdgeCounts> edges;
  for (auto& one : visible) add_to(edges, one.get());
  return edges;
}

void PipelineMaster::ended(const std::string& node, const StageCounts& counts) {
  {
    const std::lock_guard lock(mutex_);
    ended_.insert(node);
    counts_[node] = counts;
  }
  signal_.set();
}

bool PipelineMaster::skipped(const std::string& node, std::uint64_t records) {
  const std::lock_guard lock(mutex_);
  counts_[node].skipped = records;
  std::uint64_t sum = 0;
  for (const auto& [name, counts] : counts_) sum += counts.skipped;
  return sum <= options_.skip_records;
}

bool PipelineMaster::all_ended() const {
  const std::lock_guard lock(mutex_);
  return ended_.size() == nodes_;
}

Future<bool> PipelineMaster::restored(std::string node, std::string lost, std::string obstacle) {
  const std::lock_guard lock(mutex_);
  Restored& all = restored_;
  if (all.lost.empty()) all.lost = std::move(lost);
  if (all.obstacle.empty()) all.obstacle = std::move(obstacle);
  Future<bool> again = (all.nodes[std::move(node)] = {}).future();
  if (all.nodes.size() < nodes_) return again;
  const bool fails = !all.lost.empty() && !all.obstacle.empty();
  const std::string text = all.lost + "; lp cannot make it again by itself, because " + all.obstacle +
                           ": begin the run again, with a folder that outlives the hosts as PipelineOptions::scratch";
  if (fails) context_.fail_program(text);
  if (!fails && !all.lost.empty()) log_line(all.lost + ", so all stages begin from the beginning and make it again");
  for (auto& [name, promise] : all.nodes) {
    if (fails) {
      promise.set_exception(std::make_exception_ptr(Error(ErrorKind::stopped, text)));
    } else {
      promise.set_value(!all.lost.empty());
    }
  }
  return again;
}

PipelineResult PipelineMaster::result() const {
  const std::lock_guard lock(mutex_);
  PipelineResult out{.checkpoints = complete_, .seconds = to_seconds(now() - begun_)};
  for (const EdgeCounts& one : edges_) {
    out.edges.push_back({one.from, one.to, one.records, one.bytes});
    if (out.skew.empty()) out.skew = dataflow::skew_of(one);
  }
  for (const auto& [name, counts] : counts_) {
    out.skipped += counts.skipped;
    out.future_events += counts.future_events;
  }
  return out;
}

void PipelineMaster::save(Checkpoint& out) const {
  const std::lock_guard lock(mutex_);
  out.put("cut", cut_);
  out.put("counts", counts_);
  out.put("edges", edges_);
  out.put("over", over_);
}

void PipelineMaster::load(const Checkpoint& in) {
  complete_ = cut_ = in.get<std::uint64_t>("cut");
  counts_ = in.get<std::map<std::string, StageCounts>>("counts");
  edges_ = in.get<std::vector<EdgeCounts>>("edges");
}

}  // namespace lp
