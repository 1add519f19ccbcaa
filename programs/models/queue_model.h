#pragma once
// Models whose work runs on a queue (lp/kernels/queue.h), for instance of a GPU: matrix products there are cuBLAS's.
// They have the parameters, batches and results of the model on the host, up to rounding, and repeat their own bits.
//
// Unlike other models, each is used by one thread at a time.

#include <memory>

#include "lp/kernels/queue.h"
#include "programs/models/linear.h"
#include "programs/models/mlp.h"
#include "programs/models/model.h"

namespace lp {

// The queue is made by the first computation: nodes that only need the size or the first parameters of a model use no
// device.
std::unique_ptr<Model> on_queue(kernels::MakeQueue make_queue, const Mlp& model);
// Sparse examples are few values a row: their batches stay on the host.
std::unique_ptr<Model> on_queue(kernels::MakeQueue make_queue, const LinearModel& model);

}  // namespace lp
