#pragma once
// The queue of a GPU: a stream of its own, which waits for no other, and memory from the device's pool in the order of
// the stream. Matrix products are cuBLAS's, in float without TF32; its library is loaded by the first product. The same
// device repeats the bits of all work.

#include <memory>

#include "lp/kernels/queue.h"

namespace lp::kernels {

// `device` counts the devices that this process may use (CUDA_VISIBLE_DEVICES). Error::failed in one sentence when
// there is none: built without a CUDA toolkit, no driver, a driver that is too old, or no such device. When the device
// has not enough memory for a piece of work, that fails with Error::overloaded.
//
// The queue may be used by any thread, one at a time, but not by a process that was forked after this call:
// Error::failed.
std::unique_ptr<Queue> device_queue(int device = 0);

}  // namespace lp::kernels
