#include "launchers/plan/host_gpus.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lp/base/json.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

constexpr double kRounding = 1e-9;  // in sums of parts

bool is_part(double need) { return need > 0 && need < 1; }
std::size_t whole_number(double need) { return static_cast<std::size_t>(std::ceil(need)); }

}  // namespace

HostGpus::HostGpus(std::vector<gpu::Gpu> gpus) {
  for (gpu::Gpu& one : gpus) all_.push_back({.gpu = std::move(one)});
}

bool HostGpus::fits(double need) const {
  if (!is_part(need)) return whole() >= whole_number(need);
  return std::any_of(all_.begin(), all_.end(), [&](const One& one) { return one.room() > need - kRounding; });
}

std::vector<std::size_t> HostGpus::take(double need) {
  std::vector<std::size_t> taken;
  if (!is_part(need)) {
    for (std::size_t i = 0; i < all_.size() && taken.size() < whole_number(need); ++i) {
      if (all_[i].whole()) taken.push_back(i);
    }
    for (const std::size_t position : taken) all_[position].taken = 1;
    return taken;
  }
  std::size_t best = all_.size();
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const bool enough = all_[i].room() > need - kRounding;
    if (enough && (best == all_.size() || all_[i].room() < all_[best].room())) best = i;
  }
  all_[best].taken = std::min(all_[best].taken + need, 1.0);
  return {best};
}

void HostGpus::give_back(const std::vector<std::size_t>& taken, double need) {
  for (const std::size_t position : taken) {
    double& part = all_[position].taken;
    part -= is_part(need) ? need : 1;
    if (part < kRounding) part = 0;
  }
}

void HostGpus::break_gpu(const std::string& uuid) {
  for (One& one : all_) one.broken = one.broken || one.gpu.uuid == uuid;
}

bool HostGpus::broken(const std::vector<std::size_t>& taken) const {
  return std::any_of(taken.begin(), taken.end(), [&](std::size_t position) { return all_[position].broken; });
}

std::size_t HostGpus::whole() const {
  return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [](const One& one) { return one.whole(); }));
}

std::string HostGpus::free_text() const {
  std::vector<std::string> notes;
  std::vector<std::string> parts;
  for (const One& one : all_) {
    if (one.taken > 0 && one.room() > kRounding) parts.push_back(to_json(std::round(one.room() * 1000) / 1000));
  }
  if (!parts.empty()) notes.push_back("and " + join(parts, ", ") + " of shared ones");
  const auto broken = std::count_if(all_.begin(), all_.end(), [](const One& one) { return one.broken; });
  if (broken > 0) notes.push_back(std::to_string(broken) + (broken == 1 ? " is" : " are") + " broken");
  return std::to_string(whole()) + (notes.empty() ? "" : " (" + join(notes, "; ") + ")");
}

}  // namespace lp::launch
