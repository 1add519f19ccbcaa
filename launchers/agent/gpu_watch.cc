#include "launchers/agent/gpu_watch.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace lp::launch {
namespace {

constexpr auto kGpuPeriod = std::chrono::milliseconds(500);

}  // namespace

void GpuWatch::add(const Child& child) {
  if (child.gpus.empty()) return;
  if (!std::exchange(began_, true)) nvml_ = gpu::nvml_here();
  if (nvml_ != nullptr) next_ = std::min(next_, after(kGpuPeriod));
}

void GpuWatch::poll_faults(const std::vector<Child*>& children) {
  if (nvml_ == nullptr) return;
  next_ = after(kGpuPeriod);
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
