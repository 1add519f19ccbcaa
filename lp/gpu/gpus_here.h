#pragma once
// The GPUs of this host that this process, and the programs which it starts, may use. Functions; any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lp/gpu/gpu.h"

namespace lp::gpu {

// Those of `all`, in the order of the bus, that a CUDA program sees when CUDA_VISIBLE_DEVICES has the value `visible`.
// Without that variable it sees all. As CUDA does, it reads the list up to the first entry that names no GPU. An entry
// is a number, or the begin of a UUID. Numbers count the GPUs by the bus if `by_bus`; otherwise CUDA counts the fastest
// first, so that numbers of different cards stay as they are, because nothing here knows which one is faster.
// Where `all` is empty nothing is known of GPUs, and every entry stays as it is.
std::vector<Gpu> visible_gpus(const std::vector<Gpu>& all, std::optional<std::string_view> visible, bool by_bus);

// The GPUs of this process. Without NVML they are those that the variable names, or the driver's files in /dev show.
// Without a driver there are none, whatever the variable names.
std::vector<Gpu> gpus_here();

// Why this process sees none of the GPUs that CUDA_VISIBLE_DEVICES names, in words; empty: it sees some, or none is
// named.
std::string missing_gpus();

}  // namespace lp::gpu
