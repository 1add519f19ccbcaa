#pragma once
// A worker: the loop that all training schemes over parameter servers share. It computes the gradients of its share of
// the batches; how they are exchanged is its scheme's Exchange.
//
// A node: run() works, and other nodes may ask what it did.

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
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
  double loss = 0;               // mean over the examples of the last step: of all workers where the scheme knows it
  std::uint64_t dropped = 0;     // gradients
  std::uint64_t bytes_sent = 0;  // of keys and values
  std::uint64_t bytes_received = 0;
  double seconds = 0;       // of its work
  double idle_seconds = 0;  // of these, spent in the exchange
};

class TrainingWorker {
 public:
  TrainingWorker(Clients<ParameterService> servers, std::vector<Tensor> tensors, LearningTask task,
                 ServerTraining training, Scheme scheme);
  virtual ~TrainingWorker() = default;

  // Trains until all steps are done; of a task without data, on what it is fed, until the feed ends. What it does in a
  // step is a function of seed, step and worker: one that was restarted, or whose servers were, goes on from where the
  // servers are. Error::failed as for ParameterServer::push.
  void run(Context& node);

  // Up to about now; complete when run() has ended.
  WorkerStatistics statistics() const { return statistics_; }
  // What all have learned when they have ended, in a scheme whose servers do not hold it; else no values.
  Parameters learned() const { return result_ ? result_() : Parameters(); }

  // For who feeds a worker of a task without data: see BatchFeed::put.
  Future<std::uint64_t> feed(std::uint64_t step, std::optional<Dataset> batch) {
    return feed_.put(step, std::move(batch));
  }
  std::uint64_t fed() const { return feed_.fed(); }  // batches

  static constexpr int kFeedMilliseconds = 600'000;  // more than a batch takes; who waits longer gives up

  using Remote = Methods<&TrainingWorker::statistics, &TrainingWorker::learned,
                         deadline<idempotent<&TrainingWorker::feed>, kFeedMilliseconds>, &TrainingWorker::fed>;

 protected:
  // run() has made its client, which has pushed nothing yet.
  virtual void begin(ParameterClient&) {}
  // run() has done all steps before this one.
  virtual void reached(Context&, const ParameterClient&, std::uint64_t) {}

  const ServerTraining& training() const { return training_; }

 private:
  std::optional<Dataset> fed_batch(Context& node, std::uint64_t step);

  Clients<ParameterService> servers_;
  const std::vector<Tensor> tensors_;
  const LearningTask task_;
  const ServerTraining training_;
  const Scheme scheme_;
  WorkerStatistics statistics_{};
  std::function<Parameters()> result_{};  // the exchange's, when all steps are done
  BatchFeed feed_{};
};

// A worker whose compression leaves something behind, which is in the program's cuts: those of the servers, whose
// updates are its steps. So it goes back with them when one of all these fails, and sends again what it had sent.
class SavedWorker final : public TrainingWorker {
 public:
  using TrainingWorker::TrainingWorker;

  void save(Checkpoint& out) const;
  void load(const Checkpoint& in);

  using Remote = TrainingWorker::Remote;

 private:
  void begin(ParameterClient& client) override;
  void reached(Context& node, const ParameterClient& client, std::uint64_t step) override;

  std::uint64_t step_ = 0;  // of the newest cut
  std::vector<Array<float>> residuals_{};
};

// Adds the workers of a training with servers, as the constructor's arguments have it.
template <class Servers, class Task>
GroupHandle<TrainingWorker> add_workers(Program& program, const GroupOptions& group, const Servers& servers,
                                        const SchemeTensors& tensors, const Task& task, const ServerTraining& training,
                                        const Scheme& scheme) {
  if (leaves_residuals(training, scheme)) {
    return program.group<SavedWorker>(group, servers, tensors, task, training, scheme);
  }
  return program.group<TrainingWorker>(group, servers, tensors, task, training, scheme);
}

}  // namespace lp
