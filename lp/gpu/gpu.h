#pragma once
// A GPU of this host, and what it does. Values.

#include <cstdint>
#include <optional>
#include <string>

namespace lp::gpu {

// A GPU, or a part of one that the driver offers like a whole one (MIG).
struct Gpu {
  // "GPU-..." or "MIG-...", which name it wherever it is seen from. Without NVIDIA's management library it is the
  // number or name by which CUDA_VISIBLE_DEVICES has it.
  std::string uuid{};
  std::string name{};        // "NVIDIA H100 80GB HBM3"; empty: unknown
  std::uint64_t memory = 0;  // bytes; 0: unknown

  bool operator==(const Gpu&) const = default;
};

struct GpuUse {
  std::optional<double> busy{};  // the share of the last moments in which a kernel ran; a part of a GPU has none
  std::uint64_t memory = 0;      // bytes in use, by all processes
};

// A fault that the driver has reported.
struct GpuFault {
  std::string uuid{};
  std::uint64_t xid = 0;  // NVIDIA's number for the kind of fault

  // Whether the device is of no use before it is reset. The other faults are mistakes of a program, and end only that.
  bool breaks_device() const noexcept;
};

}  // namespace lp::gpu
