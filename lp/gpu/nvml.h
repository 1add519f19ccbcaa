#pragma once
// NVIDIA's management library (NVML), which comes with the driver: the GPUs of this host, what they do, and their
// faults. It is loaded where it is installed, and nothing is linked with it. One thread at a time uses an object.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lp/gpu/gpu.h"

namespace lp::gpu {

class Nvml {
 public:
  static constexpr const char* kLibrary = "libnvidia-ml.so.1";

  // Throws Error(failed) with the reason when there is no library, or when it finds no driver.
  explicit Nvml(const std::string& library = kLibrary);
  ~Nvml();
  Nvml(Nvml&&) noexcept;
  Nvml& operator=(Nvml&&) noexcept;

  const std::string& driver() const;  // "580.95.05"
  int cuda() const;                   // the newest CUDA that the driver knows: 13000 is 13.0
  // All GPUs of the host, in the order of the bus. A GPU that is divided (MIG) stands there as its parts.
  const std::vector<Gpu>& gpus() const;

  // Tells how busy the GPU is now; nothing for an unknown GPU, or one that has disappeared.
  std::optional<GpuUse> use(const std::string& uuid) const;
  // The bytes of the GPU that a process has for itself. Containers hide processes from one another: then 0.
  std::uint64_t memory_of(pid_t process, const std::string& uuid) const;
  // Whether one GPU reads the memory of another one directly.
  bool peers(const std::string& one, const std::string& other) const;
  // The next fault that the driver has reported since this object was made. It does not wait. A part of a divided GPU
  // has the faults of the whole.
  std::optional<GpuFault> next_fault();

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

// Null where NVML cannot be used.
std::unique_ptr<Nvml> nvml_here();

}  // namespace lp::gpu
