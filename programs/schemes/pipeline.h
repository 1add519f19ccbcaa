#pragma once
// A multilayer perceptron whose layers are placed on nodes: model parallel (DistBelief, Dean et al., NIPS 2012, section
// 3), and a pipeline when a batch is split into micro-batches of which several are in flight (GPipe, Huang et al.,
// NeurIPS 2019, section 2.2). A stage has the parameters of its layers alone. Activations go from stage to stage, and
// their derivatives come back as the answers. When all micro-batches of a batch are back, every stage updates its
// parameters. So the gradient is that of the whole batch: with one micro-batch to the bit, with more within rounding.
//
//     worker/0 ──▶ stage/0 ──▶ stage/1 ──▶ ...
//
// Values; pure functions.

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/program/node_type.h"
#include "lp/rpc/clients.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"
#include "lp/wire/eigen.h"
#include "nodes/cut_schedule.h"
#include "nodes/run_queue.h"
#include "programs/models/mlp.h"
#include "programs/training/gradient_guard.h"
#include "programs/training/training.h"
#include "programs/training/worker.h"

namespace lp {

struct Pipeline {
  std::vector<Eigen::Index> units{};  // {inputs, hidden..., classes}
  Activation activation = Activation::tanh;
  int stages = 2;
  std::uint32_t micro_batches = 4;  // into which each batch is split
};

struct MicroBatch {
  std::uint32_t number = 0;  // in its batch
  Eigen::MatrixXf inputs{};  // inputs of the stage
  Eigen::VectorXi labels{};
};
struct MicroResult {
  double loss = 0;          // summed over the examples
  Eigen::MatrixXf delta{};  // derivative with respect to the inputs
};

struct StageStatistics {
  std::uint64_t micro_batches = 0;
  std::uint64_t bytes_sent = 0;      // activations to the next stage, and derivatives to the previous one
  std::uint32_t most_in_flight = 0;  // the most micro-batches that were here and not back from the next stage
  double seconds = 0;                // from the first micro-batch of a batch to its update, over all batches
  double idle_seconds = 0;           // part of `seconds`: the bubble of the pipeline
};

// Some layers, their parameters and optimizer. A node; all work on these is done in its run(), in the order of the
// calls, so that the node answers heartbeats however long its layers take.
class PipelineStage {
 public:
  // `stages` are all stages, this one included.
  PipelineStage(Context& node, Clients<PipelineStage> stages, const Pipeline& pipeline, const ServerTraining& training,
                const LearningTask& task);

  void run(Context& node) { work_.run(node); }

  // Forward through this stage and all after it, and back. Error::failed when a size, a number or a label does not fit.
  Future<MicroResult> pass(MicroBatch batch);
  // The batch is complete: does a step by its gradient, summed over `examples` examples. A step that is done already
  // changes nothing. Error::failed when the gradient is not finite.
  Future<void> update(std::uint64_t step, std::uint32_t examples);
  // Other stages have done `steps` steps: does the last of them by the gradient that is here, unless it is done
  // already.
  Future<void> catch_up(std::uint64_t steps);
  // Forgets the micro-batches since the last update. Returns the number of steps done.
  Future<std::uint64_t> begin();
  Future<std::uint64_t> steps();

  Future<Eigen::VectorXf> parameters();
  Future<StageStatistics> statistics();

  void save(Checkpoint& out) const;
  // Error::failed when the saved state is of other layers.
  void load(const Checkpoint& in);

  static constexpr Interval kStepTime = 600_s;

  using Remote =
      Methods<deadline<&PipelineStage::pass, kStepTime>, deadline<idempotent<&PipelineStage::update>, kStepTime>,
              deadline<idempotent<&PipelineStage::catch_up>, kStepTime>,
              deadline<idempotent<&PipelineStage::begin>, kStepTime>,
              deadline<idempotent<&PipelineStage::steps>, kStepTime>,
              deadline<idempotent<&PipelineStage::parameters>, kStepTime>,
              deadline<idempotent<&PipelineStage::statistics>, kStepTime>>;

 private:
  // The stage counts as busy as long as one exists.
  class Work;
  struct Forwarded {
    MicroBatch batch{};
    std::vector<Eigen::MatrixXf> outputs{};
    std::uint64_t attempt = 0;
  };

  bool is_last() const { return index_ + 1 == stages_.size(); }
  Forwarded forward(MicroBatch batch);
  MicroResult backward(const Forwarded& done, double loss, Eigen::MatrixXf delta);
  void descend_by_all(std::uint64_t step, std::uint32_t examples);
  std::uint64_t begin_again();

  Context& context_;
  const Clients<PipelineStage> stages_;
  const std::size_t index_;
  const MlpLayers layers_;
  const std::uint32_t micro_batches_;
  RunQueue work_{};
  // Only the work uses the following members.
  CutSchedule schedule_;
  GradientGuard guard_;
  Eigen::VectorXf parameters_{};
  Optimizer optimizer_;
  std::uint64_t step_ = 0;
  std::uint64_t attempt_ = 0;                 // begin() ends one
  std::vector<Eigen::VectorXf> gradients_{};  // by micro-batch: the gradients, which are summed in this order
  std::uint32_t examples_ = 0;                // examples of these gradients
  std::uint32_t in_flight_ = 0;
  Time began_{};  // when the batch began
  Duration busy_{};
  StageStatistics statistics_{};
};

// The group "worker" with one node, which ends the program, and the group "stage". Error::failed when there are fewer
// layers than stages, or no micro-batch.
TrainingGraph add_pipeline_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                    const Pipeline& pipeline);

// The tables that calls of this class need are compiled once, in pipeline.cc.
extern template const NodeType& internal::node_type<PipelineStage>();

}  // namespace lp
