#pragma once
// A node's view of itself while it runs, and its requests to the runtime. run(lp::Context&) receives it; a constructor
// receives it for the argument lp::context. Owned by the Runtime; it lives as long as the service, and any of the
// node's threads may use it.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "lp/base/function.h"
#include "lp/base/random.h"
#include "lp/base/scheduler.h"
#include "lp/program/progress.h"
#include "lp/program/scratch_life.h"

namespace lp {
class Edge;
class MetricRegistry;
namespace rpc {
class Membership;
}  // namespace rpc
namespace internal {
struct Interface;
}  // namespace internal

class Context {
 public:
  struct Incarnation;  // owned by the Runtime
  explicit Context(Incarnation& incarnation) : incarnation_(incarnation) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const std::string& name() const;  // "worker/3"
  int index() const;                // 3
  int replicas() const;             // size of its group; for an elastic group the maximum
  std::uint32_t incarnation() const;
  const std::string& run_name() const;  // the same in all nodes and incarnations of a run

  // The node's own seed, a function of the program's seed and the node's name.
  std::uint64_t seed() const;
  // The program's seed, the same in every node. Use it for choices on which all nodes must agree.
  std::uint64_t program_seed() const;
  // A stream of random numbers: a function of the program's seed, the node's name and `step`.
  Random random(std::uint64_t step) const;

  // Whether the node was asked to stop: run() should then return soon.
  bool stopping() const;
  // Waits for `duration`. Returns false as soon as the node is asked to stop.
  bool wait_for(Duration duration) const;
  void wait_for_stop() const;

  // Runs f in the service's turn and returns its result: f sees the state that handlers see, and no handler runs
  // meanwhile. Meant for run(). Throws `deadline` when the turn does not become free in time.
  template <class F>
  auto exclusive(F&& f) {
    using R = std::invoke_result_t<F>;
    if constexpr (std::is_void_v<R>) {
      take_turn([&] { f(); });
    } else {
      std::optional<R> result;
      take_turn([&] { result.emplace(f()); });
      return std::move(*result);
    }
  }

  // Ends the whole program, with success, for this reason.
  void stop_program(const std::string& reason);
  // Fails the whole program, for this reason, whatever the policy of the node's group: another incarnation would fail
  // likewise. Let run() return afterwards.
  void fail_program(const std::string& reason);

  // Shows progress to people, and keeps its values, histograms and texts for curves and TensorBoard (progress.h). A
  // step that comes again, after a restart, replaces what was kept from there on.
  void report(const Progress& progress);

  // Saves this node's present state, the state after `step`, as the node's part of the program's cut `step`. Call it at
  // the same steps in every node that has save and load; the cut counts when all of them have saved. Call it in a
  // handler, or in run(), where it takes the turn. A handler's state is saved when the handler returns, so that the cut
  // records this call as done. An exception from save() fails the node. A step that the node has saved already, or was
  // restored from, stays as it was saved; an older step throws Error::failed. A program without a run directory takes
  // no cuts.
  void checkpoint(std::uint64_t step);
  // Waits for the end of the cut `step`, in which this node has saved its state. Returns true when the cut is complete,
  // so that the program never goes back behind it, and false when it never will be. Without a run directory, true at
  // once.
  bool wait_for_cut(std::uint64_t step);

  // Makes a directory of this run below `parent`, for large files that have no place in memory, and returns it. The
  // launcher removes it at the end of its life. The next launch on this host and `lp rm` remove what a killed launcher
  // has left. Error::failed when it cannot be made.
  std::filesystem::path scratch(const std::filesystem::path& parent, ScratchLife life = ScratchLife::run) const;

  // For lp's own code: the edge to another node, which must serve these methods, and the membership of a group of this
  // size (null if the size is 0). Both throw Error::failed if the program has no such node or group.
  Edge& edge(const std::string& node, const internal::Interface& service);
  rpc::Membership* membership(const std::string& group, int size);
  // For lp's own code: the metrics of this node (metrics.h).
  MetricRegistry& metrics();

 private:
  bool has_turn() const;
  void take_turn(Function<void()> f);

  Incarnation& incarnation_;
};

}  // namespace lp
