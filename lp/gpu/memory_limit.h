#pragma once
// The part of a GPU's memory that a process may take when others share the GPU. It is asked before memory is taken, so
// that the call which wants too much fails, and its process goes on.

#include <cstdint>
#include <memory>
#include <string>

#include "lp/gpu/nvml.h"

namespace lp::gpu {

// One thread at a time.
class MemoryLimit {
 public:
  // The launcher of a process that shares a GPU sets it: bytes.
  static constexpr const char* kVariable = "LP_GPU_MEMORY";
  // So much of the part, and an eighth at most, is for what CUDA and its libraries take without being asked.
  static constexpr std::uint64_t kForLibraries = std::uint64_t{256} << 20;

  MemoryLimit() = default;  // allows all
  // That of this process on a GPU. Throws Error(failed) when the variable is no number.
  static MemoryLimit here(const std::string& uuid, const std::string& nvml = Nvml::kLibrary);

  bool limits() const noexcept { return part_ > 0; }
  // Whether `more` bytes fit in the part beside the `taken` ones, or, if the driver counts more for this process,
  // beside those.
  bool allows(std::uint64_t taken, std::uint64_t more) const;
  // "its part of GPU-... is 20G".
  std::string text() const;

 private:
  std::uint64_t part_ = 0;  // bytes; 0: all of the GPU
  std::string uuid_{};
  std::unique_ptr<Nvml> nvml_{};  // null: the driver does not count
};

}  // namespace lp::gpu
