#include "launchers/agent/gpu_watch.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lp/base/text.h"

namespace lp::launch {

void GpuWatch::add(const Child& child) {
  if (child.gpus.empty()) return;
  if (!std::exchange(began_, true)) nvml_ = gpu::nvml_here();
  if (nvml_ == nullptr) return;
  if (child.gpu_memory > 0) period_ = kOfMemory;
  next_ = std::min(next_, after(period_));
}

void GpuWatch::poll_faults(const std::vector<Child*>& children) {
  if (nvml_ == nullptr) return;
  next_ = after(period_);
  while (const std::optional<gpu::GpuFault> fault = nvml_->next_fault()) {
    if (!fault->breaks_device()) continue;
    for (Child* child : children) {
      if (std::find(child->gpus.begin(), child->gpus.end(), fault->uuid) == child->gpus.end()) continue;
      child->broken_gpus.push_back(fault->uuid);
      child->gpu_fault =
          "its GPU " + name_of(fault->uuid) + " has failed: the driver reported Xid " + std::to_string(fault->xid);
    }
  }
}

std::string GpuWatch::excess(const Child& child) const {
  if (nvml_ == nullptr || child.gpu_memory == 0 || child.gpus.empty()) return {};
  const std::string& shared = child.gpus.front();
  const std::uint64_t used = nvml_->memory_of(child.pid, shared);
  if (used <= child.gpu_memory) return {};
  return "it used " + memory_text(used) + " of the memory of GPU " + name_of(shared) + ", and its part is " +
         memory_text(child.gpu_memory);
}

GpuMeasure GpuWatch::measure(const Child& child) const {
  GpuMeasure all{.uuids = child.gpus};
  double busy = 0;
  std::size_t known = 0;
  for (const std::string& uuid : child.gpus) {
    const std::optional<gpu::GpuUse> use = nvml_ == nullptr ? std::nullopt : nvml_->use(uuid);
    if (!use.has_value()) continue;
    all.memory += use->memory;
    if (!use->busy.has_value()) continue;
    busy += *use->busy;
    ++known;
  }
  if (known > 0) all.busy = busy / static_cast<double>(known);
  return all;
}

std::string GpuWatch::name_of(const std::string& uuid) const {
  for (const gpu::Gpu& one : nvml_->gpus()) {
    if (one.uuid == uuid && !one.name.empty()) return uuid + " (" + one.name + ")";
  }
  return uuid;
}

}  // namespace lp::launch
