#pragma once
// A worker: the loop that all training schemes over parameter servers share. It computes the gradients of its share of
// the batches; its scheme's Exchange exchanges them.
//
// A node: run() trains, and other nodes may ask for its statistics.

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/program/node_type.h"
#include "lp/program/program.h"
#include "lp/rpc/clients.h"
#include "lp/rpc/core/method.h"
#include "lp/wire/eigen.h"
#include "programs/data/batch_feed.h"
#include "programs/training/training.h"

namespace lp {

struct WorkerStatistics {
  std::uint64_t steps = 0;
  std::uint64_t examples = 0;
  double loss = 0;               // mean over the examples of the last step; over all workers if the scheme knows it
  std::uint64_t dropped = 0;     // gradients
  std::uint64_t bytes_sent = 0;  // bytes of keys and values
  std::uint64_t bytes_received = 0;
  double seconds = 0;       // time of its work
  double idle_seconds = 0;  // part of `seconds` that was spent in the exchange
};

class TrainingWorker {
 public:
  // Exchanges gradients with `servers`. `roots` are the servers that have the parameters: the same ones, or the root of
  // a tree whose leaves are `servers`.
  TrainingWorker(Clients<ParameterService> servers, Clients<ParameterService> roots, std::vector<Tensor> tensors,
                 LearningTask task, ServerTraining training, Scheme scheme);
  virtual ~TrainingWorker() = default;

  // Trains until all steps are done, or, with a task without data, until its feed ends. A step is a function of seed,
  // step and worker. So a worker that was restarted, or whose servers were, goes on from the servers' step.
  // Error::failed as for ParameterServer::push.
  void run(Context& node);

  // Up to about now; complete when run() has ended.
  WorkerStatistics statistics() const { return statistics_; }
  // Ready when run() has ended: the result of all workers, in a scheme whose servers do not hold it; else no values.
  Future<Parameters> learned();

  // Called by the feeder of a worker of a task without data: see BatchFeed::put.
  Future<std::uint64_t> feed(std::uint64_t step, std::optional<Dataset> batch) {
    return feed_.put(step, std::move(batch));
  }
  std::uint64_t fed() const { return feed_.fed(); }  // batches

  static constexpr Interval kFeedTime = 600_s;  // more than a batch takes; a feeder that waits longer gives up

  using Remote = Methods<&TrainingWorker::statistics, idempotent<&TrainingWorker::learned>,
                         deadline<idempotent<&TrainingWorker::feed>, kFeedTime>, &TrainingWorker::fed>;

 protected:
  // Called when run() has made these two, which have pushed nothing yet.
  virtual void begin(ParameterClient&, Exchange&) {}
  // Called when run() has done all steps before this one.
  virtual void reached(Context&, std::uint64_t) {}

  const ServerTraining& training() const { return training_; }

 private:
  void train(Context& node);
  void end(Context& node);
  std::optional<Dataset> fed_batch(Context& node, std::uint64_t step);

  Clients<ParameterService> servers_;
  Clients<ParameterService> roots_;
  const std::vector<Tensor> tensors_;
  const LearningTask task_;
  const ServerTraining training_;
  const Scheme scheme_;
  WorkerStatistics statistics_{};
  std::function<Parameters()> result_{};  // the exchange's, when all steps are done
  bool ended_ = false;                    // run() has ended
  std::vector<Promise<void>> waiting_{};  // for the end of run()
  BatchFeed feed_{};
};

// A worker that is in the program's cuts, with the residuals of its compression and the state of its exchange. The cuts
// are those of the servers, whose updates are its steps. So when one of them fails, the worker goes back together with
// the servers, and sends the same gradients again.
class SavedWorker final : public TrainingWorker {
 public:
  using TrainingWorker::TrainingWorker;

  void save(Checkpoint& out) const;
  void load(const Checkpoint& in);

  using Remote = TrainingWorker::Remote;

 private:
  void begin(ParameterClient& client, Exchange& exchange) override;
  void reached(Context& node, std::uint64_t step) override;

  std::uint64_t step_ = 0;  // the step of the newest cut
  Checkpoint loaded_{};
  // The client and the exchange of run(), which takes the cuts.
  const ParameterClient* client_ = nullptr;
  const Exchange* exchange_ = nullptr;
};

// Adds the workers of a training with servers; the arguments are those of the constructor.
template <class Servers, class Task>
GroupHandle<TrainingWorker> add_workers(Program& program, const GroupOptions& group, const Servers& servers,
                                        const GroupHandle<ParameterService>& roots, const SchemeTensors& tensors,
                                        const Task& task, const ServerTraining& training, const Scheme& scheme) {
  if (cuts_workers(training, scheme)) {
    return program.group<SavedWorker>(group, servers, roots, tensors, task, training, scheme);
  }
  return program.group<TrainingWorker>(group, servers, roots, tensors, task, training, scheme);
}

// The tables that calls of this class need are compiled once, in worker.cc.
extern template const NodeType& internal::node_type<TrainingWorker>();

}  // namespace lp
