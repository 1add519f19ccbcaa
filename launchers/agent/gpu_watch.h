#pragma once
// The use and the faults of the GPUs that an agent's node processes have. The agent owns it and uses it in its one
// thread.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "launchers/agent/child.h"
#include "launchers/control/measurement.h"
#include "lp/base/scheduler.h"
#include "lp/gpu/nvml.h"

namespace lp::launch {

class GpuWatch {
 public:
  // Watches the GPUs of this process, too. Without NVML nothing is known of them.
  void add(const Child& child);
  Time next() const { return next_; }

  // Looks for faults that the driver has reported. A process whose GPU has failed gets `broken_gpus` and `gpu_fault`.
  void poll_faults(const std::vector<Child*>& children);

  // How a process uses more of the GPU that it shares than its part; empty: it does not, or the driver does not tell.
  std::string excess(const Child& child) const;

  // The sum over the GPUs of the process.
  GpuMeasure measure(const Child& child) const;

 private:
  static constexpr Duration kOfFaults = std::chrono::milliseconds(500);
  static constexpr Duration kOfMemory = std::chrono::milliseconds(100);

  std::string name_of(const std::string& uuid) const;

  std::unique_ptr<gpu::Nvml> nvml_;
  bool began_ = false;
  Duration period_ = kOfFaults;
  Time next_ = kNever;
};

}  // namespace lp::launch
