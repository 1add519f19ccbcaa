#pragma once
// One shard of a model's parameters, for synchronous training: in each step every worker pushes the gradient of its
// part of the batch, and when all are there the optimizer is applied to their sum, once.
//
// The gradients are summed in the order of the workers, whenever they come, and every operation is element-wise. So the
// parameters are a function of the gradients alone, the same bits for any launcher, timing, number of shards and number
// of restarts. Version s of the parameters is that after s steps; the server holds the newest and the one before, which
// is all that workers can be apart: nobody computes step s + 1 before every shard has applied step s.
//
// A node: its handlers run in its turn. Workers and their protocol are in programs/synchronous.h.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lp/base/array.h"
#include "lp/program/checkpoint.h"
#include "lp/program/context.h"
#include "lp/rpc/future.h"
#include "lp/rpc/method.h"
#include "nodes/optimizer.h"

namespace lp {

struct ParameterServerOptions {
  OptimizerRule rule = Sgd{};
  std::uint32_t workers = 1;    // that push in each step
  float divisor = 1;            // of the sum of their gradients: the examples in a batch, for the mean
  std::uint64_t cut_every = 0;  // steps from one cut of the program to the next; 0: none is taken
  std::uint64_t last_step = 0;  // a cut is taken after it, too; 0: unknown
};

// What a server holds: version `step` of its parameters and the one before, which is empty at the start and after a
// restart.
struct ParameterVersions {
  std::uint64_t step = 0;
  Array<float> newest{};
  Array<float> previous{};
};

class ParameterServer {
 public:
  // `initial` is this shard's part of version 0. Error::failed without workers, or for a divisor that is not positive.
  ParameterServer(Context& context, Array<float> initial, ParameterServerOptions options);

  // The number of steps applied.
  std::uint64_t step() const { return versions_.step; }
  ParameterVersions versions() const { return versions_; }

  // Version `step`, as soon as there is one. Error::disconnected when it is there no more: go on from versions().
  Future<Array<float>> pull(std::uint64_t step);

  // The gradient of `worker` in `step`, summed over its examples. Resolves with version step + 1, when all workers have
  // pushed. What was pushed before counts once, and is answered again.
  //
  // Error::disconnected when the server is not at this step, because it or the worker was restarted: go on from
  // versions(). Error::failed, which names worker and element, for a gradient of another size or with NaN or infinity.
  Future<Array<float>> push(std::uint64_t step, std::uint32_t worker, Array<float> gradient);

  void save(Checkpoint& out) const;
  // Error::failed when what was saved is of another size, of another kind of rule, or of a program with another seed.
  void load(const Checkpoint& in);

  // For the slowest worker, its restart included.
  static constexpr int kStepMilliseconds = 600'000;

  using Remote =
      Methods<idempotent<&ParameterServer::step>, deadline<idempotent<&ParameterServer::versions>, kStepMilliseconds>,
              deadline<idempotent<&ParameterServer::pull>, kStepMilliseconds>,
              deadline<idempotent<&ParameterServer::push>, kStepMilliseconds>>;

 private:
  void check(std::uint32_t worker, const Array<float>& gradient) const;
  Error out_of_step(const char* what, std::uint64_t step) const;
  void apply();

  Context& context_;
  const ParameterServerOptions options_;
  ParameterVersions versions_;
  Optimizer optimizer_;
  std::vector<std::optional<Array<float>>> gradients_;  // of the step that is due, by worker
  std::uint32_t arrived_ = 0;
  std::vector<Promise<Array<float>>> pushes_;                             // of that step
  std::vector<std::pair<std::uint64_t, Promise<Array<float>>>> pulls_{};  // of versions to come
};

}  // namespace lp
