#pragma once
// The master of a pipeline: starts checkpoints, notifies the stages when one is complete, and ends the program when all
// stages have ended and their results are visible.
//
// It is in the program's cuts, as all stages are. A node: run() works; its method runs beside it.

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/rpc/clients.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"
#include "nodes/stream/pipeline_options.h"
#include "nodes/stream/signal.h"
#include "nodes/stream/stage_node.h"

namespace lp {

struct PipelineEdge {
  std::string from{};  // stages
  std::string to{};
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
};

struct PipelineResult {
  std::uint64_t checkpoints = 0;    // complete ones
  double seconds = 0;               // since the master's last start
  std::uint64_t skipped = 0;        // bad records that were left out
  std::uint64_t future_events = 0;  // see Flow::event_time; in stages that have ended
  // All that the stages had sent to one another at the last complete checkpoint, whatever was killed; for a moment
  // after a restart, at the one before it.
  std::vector<PipelineEdge> edges{};
  std::string skew{};  // names a key that has about half of all records between two stages, or more
};

class PipelineMaster {
 public:
  // With `shared_runs`, all stages need to see PipelineOptions::scratch.
  PipelineMaster(Context& node, std::vector<Clients<StageNode>> stages, PipelineOptions options, bool shared_runs);

  void run(Context& node);

  // A replica of a stage has passed everything on.
  void ended(const std::string& node, const StageCounts& counts);
  // It has left out so many records. Returns false when these are more than the pipeline may leave out.
  bool skipped(const std::string& node, std::uint64_t records);
  // A replica goes on from a checkpoint. `lost`: why it cannot; `obstacle`: why it cannot begin from the beginning.
  // Both may be empty. When all replicas have said so, the future has whether all begin from the beginning.
  Future<bool> restored(std::string node, std::string lost, std::string obstacle);
  PipelineResult result() const;

  using Remote = Methods<idempotent<immediate<&PipelineMaster::ended>>, idempotent<immediate<&PipelineMaster::skipped>>,
                         deadline<idempotent<immediate<&PipelineMaster::restored>>, StageNode::kLongestWait>,
                         &PipelineMaster::result>;

  void save(Checkpoint& out) const;
  void load(const Checkpoint& in);

 private:
  void take_over();
  [[noreturn]] void fail(const std::string& text) const;
  void check_scratch();
  bool all_ended() const;
  bool checkpoint();
  // Makes the results of the cut visible. Returns what the stages have sent so far.
  std::vector<dataflow::EdgeCounts> commit(std::uint64_t cut, bool over);
  void keep(std::vector<dataflow::EdgeCounts> edges);
  void wait_for_turn();
  Duration pause() const;

  Context& context_;
  const std::vector<Clients<StageNode>> stages_;
  const PipelineOptions options_;
  const bool shared_runs_;
  const Time begun_;
  std::size_t nodes_ = 0;
  dataflow::Signal signal_{};
  mutable std::mutex mutex_{};
  std::set<std::string> ended_{};                // nodes
  std::map<std::string, StageCounts> counts_{};  // by node
  struct Restored {
    std::map<std::string, Promise<bool>> nodes{};
    std::string lost{};
    std::string obstacle{};
  } restored_{};
  std::uint64_t cut_ = 0;
  bool over_ = false;  // all stages had ended before the cut
  std::uint64_t complete_ = 0;
  int failed_ = 0;  // cuts since one was complete
  std::vector<dataflow::EdgeCounts> edges_{};
};

}  // namespace lp
