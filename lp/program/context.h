#pragma once
// What a node knows of itself while it runs, and what it may ask of its runtime. run(lp::Context&) gets it; a
// constructor gets it for the argument lp::context. Owned by the Runtime; it lives as long as the service, and any of
// the node's threads may use it.

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lp/base/function.h"
#include "lp/base/random.h"
#include "lp/base/scheduler.h"
#include "lp/rpc/core/edge.h"

namespace lp {
namespace internal {
class Membership;
struct Interface;
}  // namespace internal

// What a node says of its work, for people: shown as a bar, kept in the status.
struct Progress {
  std::uint64_t step = 0;
  std::uint64_t total = 0;                               // 0: unknown
  std::vector<std::pair<std::string, double>> values{};  // "loss", "images/s"
};

class Context {
 public:
  struct State;  // the Runtime's
  explicit Context(State& state) : state_(state) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const std::string& name() const;  // "worker/3"
  int index() const;                // 3
  int replicas() const;             // of its group; of an elastic one the most
  std::uint32_t incarnation() const;

  // The node's own seed: a function of the program's seed and its name.
  std::uint64_t seed() const;
  // The program's seed, the same in every node: for what all of them must agree on.
  std::uint64_t program_seed() const;
  // A stream of random numbers: a function of the program's seed, the node's name and `step`.
  Random random(std::uint64_t step) const;

  // Whether the node was asked to stop, and why it should return soon.
  bool stopping() const;
  // Waits for `duration`, or until the node is asked to stop: then false.
  bool wait_for(Duration duration) const;
  void wait_for_stop() const;

  // Runs f in the service's turn, so that it sees what handlers see, alone, and returns what f returns. For run().
  // Throws `deadline` when the turn is not had in time.
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

  void report(const Progress& progress);

  // This node's state now is that after `step`: saves it as the node's part of the cut `step` of the program. Call it
  // at the same steps in every node that has save and load; the cut counts when all have. In a handler, or in run(),
  // which then takes the turn. A handler's state is taken when it returns, so that the cut knows that this call was
  // done; what save() throws fails the node. A step that the node has cut already, or was restored from, stays as it
  // was saved; Error::failed for an older one. A program without a run directory takes no cuts.
  void cut(std::uint64_t step);

  // For lp's own code: the edge to another node, which has to serve these methods, and who of a group of this size is
  // there (null: the size is 0). Error::failed when the program has none such.
  Edge& edge(const std::string& node, const internal::Interface& service);
  internal::Membership* membership(const std::string& group, int size);

 private:
  bool has_turn() const;
  void take_turn(Function<void()> f);

  State& state_;
};

}  // namespace lp
