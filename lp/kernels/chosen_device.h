#pragma once
// A program's choice of where it computes: the flag --device=cpu|cuda|auto. Functions; any thread.

#include <string>
#include <string_view>

#include "lp/kernels/queue.h"

namespace lp::kernels {

// Returns "cpu" or "cuda": for "auto", cuda where this process can use a GPU. The launcher calls it, so that all nodes
// have the same answer. Error::failed for another word, and for cuda in a program that was built without a CUDA
// toolkit.
std::string chosen_device(std::string_view wanted);

// For "cuda", makes the queue of the GPU that the calling node sees first. For "cpu" it is empty.
MakeQueue queue_on(std::string_view device);

}  // namespace lp::kernels
