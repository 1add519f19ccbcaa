#pragma once
// The GPUs of one host, and which of them are free. It decides which process gets which GPU, and knows nothing of
// hosts, processes and drivers. A value; it copies.

#include <cstddef>
#include <string>
#include <vector>

#include "lp/gpu/gpu.h"

namespace lp::launch {

class HostGpus {
 public:
  HostGpus() = default;
  explicit HostGpus(std::vector<gpu::Gpu> gpus);

  // Takes the first `count` free GPUs for a process: the positions of these in the host's list. There are as many.
  std::vector<std::size_t> take(std::size_t count);
  void give_back(const std::vector<std::size_t>& taken);
  const gpu::Gpu& at(std::size_t position) const { return all_[position].gpu; }

  // Takes a GPU out of use for good, also when its process gives it back.
  void break_gpu(const std::string& uuid);
  bool broken(const std::vector<std::size_t>& taken) const;  // one of them is out of use

  std::size_t free() const;
  // Returns how many are free: "2", "1 (1 is broken)".
  std::string free_text() const;

 private:
  struct One {
    gpu::Gpu gpu{};
    bool taken = false;
    bool broken = false;
  };

  std::vector<One> all_;
};

}  // namespace lp::launch
