#include "launchers/plan/host_gpus.h"

#include <algorithm>
#include <utility>

namespace lp::launch {

HostGpus::HostGpus(std::vector<gpu::Gpu> gpus) {
  for (gpu::Gpu& one : gpus) all_.push_back({.gpu = std::move(one)});
}

std::vector<std::size_t> HostGpus::take(std::size_t count) {
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < all_.size() && taken.size() < count; ++i) {
    if (all_[i].taken || all_[i].broken) continue;
    all_[i].taken = true;
    taken.push_back(i);
  }
  return taken;
}

void HostGpus::give_back(const std::vector<std::size_t>& taken) {
  for (const std::size_t position : taken) all_[position].taken = false;
}

void HostGpus::break_gpu(const std::string& uuid) {
  for (One& one : all_) one.broken = one.broken || one.gpu.uuid == uuid;
}

bool HostGpus::broken(const std::vector<std::size_t>& taken) const {
  return std::any_of(taken.begin(), taken.end(), [&](std::size_t position) { return all_[position].broken; });
}

std::size_t HostGpus::free() const {
  return static_cast<std::size_t>(
      std::count_if(all_.begin(), all_.end(), [](const One& one) { return !one.taken && !one.broken; }));
}

std::string HostGpus::free_text() const {
  const auto broken = std::count_if(all_.begin(), all_.end(), [](const One& one) { return one.broken; });
  std::string text = std::to_string(free());
  if (broken > 0) text += " (" + std::to_string(broken) + (broken == 1 ? " is" : " are") + " broken)";
  return text;
}

}  // namespace lp::launch
