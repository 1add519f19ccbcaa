#pragma once
// Local SGD with averaging of models: SparkNet (Moritz et al., ICLR 2016), and Multiverso without servers. Every worker
// trains its own replica on its own batches. After every `average_every` steps all take the mean of their parameters
// and of their optimizers' states (Yu, Jin and Yang, "On the linear speedup analysis of communication efficient
// momentum SGD for distributed non-convex optimization", ICML 2019).

#include <cstdint>

#include "programs/schemes/replicas.h"

namespace lp {

// `average_every` is τ, in steps of a worker. Each of N workers takes every N-th whole batch. Error::failed when it is
// 0.
ReplicaScheme local_sgd_scheme(std::uint64_t average_every = 50);

// All workers do the same number of steps: the last of them may take batches beyond those of the training.
TrainingGraph add_local_sgd_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                     std::uint64_t average_every = 50);

// Blockwise model-update filtering, as in CNTK (Chen and Huo, ICASSP 2016): instead of taking the mean itself, all do a
// step towards it with momentum.  G = mean(w) − w_g;  Δ ← η Δ + ζ G;  w ← w + Δ;  the next block begins at w_g = w, or
// in Nesterov's form at w_g = w + η Δ. The result is w.
struct BlockMomentum {
  float momentum = -1;   // η; negative: 1 − 1 / N
  float rate = 1;        // ζ
  bool nesterov = true;  // the next block begins at w + η Δ
};
ReplicaScheme bmuf_scheme(std::uint64_t average_every = 50, BlockMomentum block = {});
TrainingGraph add_bmuf_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                std::uint64_t average_every = 50, BlockMomentum block = {});

}  // namespace lp
