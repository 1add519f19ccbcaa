#include "tools/lp/gpu_findings.h"

#include <memory>

#include "lp/base/error.h"
#include "lp/base/text.h"
#include "lp/gpu/gpus_here.h"
#include "lp/gpu/ipc.h"
#include "lp/gpu/nccl.h"
#include "lp/gpu/nvml.h"
#include "lp/gpu/toolkit.h"

namespace lp::tool {
namespace {

using State = Finding::State;
using gpu::Gpu;
using gpu::Nccl;
using gpu::Nvml;

Finding toolkit() {
  if (gpu::toolkit() > 0) return {"CUDA toolkit", State::good, gpu::cuda_text(gpu::toolkit()) + ", in this build", ""};
  return {"CUDA toolkit", State::missing, "none, in this build", "install the CUDA toolkit, and build lp again"};
}

Finding driver(const std::unique_ptr<Nvml>& nvml, const std::string& reason) {
  if (nvml == nullptr) {
    return {"GPU driver", State::missing, reason,
            "install the NVIDIA driver; in a container, the NVIDIA container toolkit, and docker run --gpus=all"};
  }
  const bool old = nvml->cuda() / 1000 < gpu::toolkit() / 1000;
  return {
      "GPU driver", old ? State::bad : State::good,
      nvml->driver() + ", for CUDA " + gpu::cuda_text(nvml->cuda()) + " and older",
      old ? "install a driver for CUDA " + gpu::cuda_text(gpu::toolkit()) + ", or build lp with an older toolkit" : ""};
}

Finding gpus(const std::vector<Gpu>& here) {
  std::string list;
  for (const Gpu& one : here) {
    list += (list.empty() ? ": " : ", ") + (one.name.empty() ? one.uuid : one.name);
    if (one.memory > 0) list += " (" + memory_text(one.memory) + ")";
  }
  if (here.empty()) {
    return {"GPUs", State::missing, "none",
            "groups that ask for gpus need some: `nvidia-smi -L` lists those of the driver, and CUDA_VISIBLE_DEVICES "
            "may hide some"};
  }
  return {"GPUs", State::good, std::to_string(here.size()) + list, ""};
}

Finding peers(const std::unique_ptr<Nvml>& nvml, const std::vector<Gpu>& here) {
  if (nvml == nullptr || here.size() < 2) return {"GPU peers", State::missing, "there are no two GPUs", ""};
  std::size_t pairs = 0;
  std::size_t good = 0;
  for (const Gpu& one : here) {
    for (const Gpu& other : here) {
      if (one == other) continue;
      ++pairs;
      good += nvml->peers(one.uuid, other.uuid) ? 1 : 0;
    }
  }
  const bool all = good == pairs;
  return {"GPU peers", all ? State::good : State::missing,
          std::to_string(good) + " of " + std::to_string(pairs) + " pairs copy directly (P2P)",
          all ? "" : "`nvidia-smi topo -p2p r` says why: the others copy through the memory of the host"};
}

Finding ipc(const std::vector<Gpu>& here) {
  const std::string obstacle = here.empty() ? "there is no GPU" : gpu::ipc_obstacle();
  if (obstacle.empty()) return {"GPU IPC", State::good, "every GPU gives handles of its memory", ""};
  return {"GPU IPC", State::missing, obstacle,
          here.empty()
              ? ""
              : "processes copy through the memory of the host; in a container, docker run --ipc=host lets them "
                "share that of the GPU"};
}

Finding nccl() {
  try {
    return {"NCCL", State::good, Nccl::version_text(Nccl().version()), ""};
  } catch (const Error& missing) {
    return {"NCCL", State::missing, missing.text(),
            "apt install libnccl2: sums of a Collective over GPUs go through the memory of the host without it"};
  }
}

}  // namespace

std::vector<Finding> gpu_findings() {
  std::unique_ptr<Nvml> nvml;
  std::string reason;
  try {
    nvml = std::make_unique<Nvml>();
  } catch (const Error& missing) {
    reason = missing.text();
  }
  const std::vector<Gpu> here = gpu::gpus_here();
  return {toolkit(), driver(nvml, reason), gpus(here), peers(nvml, here), ipc(here), nccl()};
}

}  // namespace lp::tool
