#pragma once
// The GPUs of one host, and how much of each is free. It decides which process gets which GPU, and knows nothing of
// hosts, processes and drivers. A process needs a number of whole GPUs, which it has alone, or a part of one, below 1,
// which it shares. A value; it copies.

#include <cstddef>
#include <string>
#include <vector>

#include "lp/gpu/gpu.h"

namespace lp::launch {

class HostGpus {
 public:
  HostGpus() = default;
  explicit HostGpus(std::vector<gpu::Gpu> gpus);

  bool fits(double need) const;
  // Takes what a process needs: the positions of its GPUs in the host's list. It must fit. Whole GPUs are the first
  // that nobody has. A part is of the GPU with the least room that is enough, so that others stay whole.
  std::vector<std::size_t> take(double need);
  void give_back(const std::vector<std::size_t>& taken, double need);
  const gpu::Gpu& at(std::size_t position) const { return all_[position].gpu; }

  // Takes a GPU out of use for good, also when its process gives it back.
  void break_gpu(const std::string& uuid);
  bool broken(const std::vector<std::size_t>& taken) const;  // one of them is out of use

  // Returns what is free: "2", "1 (1 is broken)", "0 (and 0.5, 0.25 of shared ones)".
  std::string free_text() const;

 private:
  struct One {
    gpu::Gpu gpu{};
    double taken = 0;  // the part that processes have
    bool broken = false;

    double room() const { return broken ? 0 : 1 - taken; }
    bool whole() const { return taken == 0 && !broken; }
  };

  std::size_t whole() const;  // the GPUs that nobody has

  std::vector<One> all_;
};

}  // namespace lp::launch
