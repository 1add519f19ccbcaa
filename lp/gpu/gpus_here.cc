#include "lp/gpu/gpus_here.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <string>

#include "lp/gpu/nvml.h"

namespace lp::gpu {
namespace {

std::vector<std::string_view> entries_of(std::string_view list) {
  std::vector<std::string_view> entries;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    entries.push_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return entries;
}

bool differ(const std::vector<Gpu>& all) {
  return std::any_of(all.begin(), all.end(), [&](const Gpu& one) { return one.name != all.front().name; });
}

// The GPU that an entry names; nothing if there is none.
std::optional<Gpu> named(const std::vector<Gpu>& all, std::string_view entry, bool by_bus) {
  if (std::size_t number = 0; !entry.empty() && entry.front() >= '0' && entry.front() <= '9') {
    const auto [rest, error] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
    if (error != std::errc{} || rest != entry.data() + entry.size() || number >= all.size()) return std::nullopt;
    if (by_bus || !differ(all)) return all[number];
    return Gpu{.uuid = std::string(entry)};
  }
  const auto fits = [&](const Gpu& one) { return one.uuid.starts_with(entry); };
  if (entry.empty() || std::count_if(all.begin(), all.end(), fits) != 1) return std::nullopt;
  return *std::find_if(all.begin(), all.end(), fits);
}

std::optional<std::string_view> visible_here() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible == nullptr ? std::nullopt : std::optional<std::string_view>(visible);
}

// Without NVML: whether the driver's kernel module is there, and its devices are given to this process.
bool has_driver() { return access("/dev/nvidiactl", F_OK) == 0; }

std::vector<Gpu> gpus_in_dev() {
  std::vector<Gpu> gpus;
  while (access(("/dev/nvidia" + std::to_string(gpus.size())).c_str(), F_OK) == 0) {
    gpus.push_back({.uuid = std::to_string(gpus.size())});
  }
  return gpus;
}

}  // namespace

std::vector<Gpu> visible_gpus(const std::vector<Gpu>& all, std::optional<std::string_view> visible, bool by_bus) {
  if (!visible) return all;
  std::vector<Gpu> seen;
  for (const std::string_view entry : entries_of(*visible)) {
    if (entry.empty() || entry == "-1") break;
    const std::optional<Gpu> gpu = all.empty() ? Gpu{.uuid = std::string(entry)} : named(all, entry, by_bus);
    if (!gpu || std::find(seen.begin(), seen.end(), *gpu) != seen.end()) break;
    seen.push_back(*gpu);
  }
  return seen;
}

std::vector<Gpu> gpus_here() {
  const std::optional<std::string_view> visible = visible_here();
  if (const std::unique_ptr<Nvml> nvml = nvml_here()) {
    const char* order = std::getenv("CUDA_DEVICE_ORDER");
    const bool by_bus = order != nullptr && std::string_view(order) == "PCI_BUS_ID";
    return nvml->gpus().empty() ? std::vector<Gpu>() : visible_gpus(nvml->gpus(), visible, by_bus);
  }
  if (!has_driver()) return {};
  return visible.has_value() ? visible_gpus({}, visible, /*by_bus=*/false) : gpus_in_dev();
}

std::string missing_gpus() {
  const std::string_view visible = visible_here().value_or("");
  if (visible.empty() || visible == "-1" || !gpus_here().empty()) return {};
  return "CUDA_VISIBLE_DEVICES names " + std::string(visible) + ", but " +
         (nvml_here() == nullptr ? "this host has no NVIDIA driver" : "no GPU of this host has such a number or UUID");
}

}  // namespace lp::gpu
