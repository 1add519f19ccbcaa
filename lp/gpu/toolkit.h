#pragma once
// The CUDA toolkit with which this build was made, and whether programs can use it here. Functions; any thread.

#include <string>

namespace lp::gpu {

int toolkit();  // 13000 is CUDA 13.0; 0: this was built without one

// "13.0" for 13000.
std::string cuda_text(int version);

// Why this process cannot compute on a GPU, in words that say what to do; empty when it can.
std::string obstacle_here();

}  // namespace lp::gpu
