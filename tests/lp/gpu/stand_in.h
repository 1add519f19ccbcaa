#pragma once
// A host with invented GPUs, for one test: a stand-in for NVIDIA's library that lists them. Programs that the test
// starts load it as if the driver were installed. An object of the test's thread.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/directory.h"

namespace lp::test {

class GpuStandIn {
 public:
  // `facts` is what nvml_stand_in.cc reads.
  explicit GpuStandIn(const std::string& facts) {
    change(facts);
    setenv("NVML_STAND_IN", file().c_str(), 1);
    setenv("LD_LIBRARY_PATH", std::filesystem::path(library()).parent_path().c_str(), 1);
  }
  ~GpuStandIn() {
    unsetenv("NVML_STAND_IN");
    unsetenv("LD_LIBRARY_PATH");
  }
  GpuStandIn(const GpuStandIn&) = delete;
  GpuStandIn& operator=(const GpuStandIn&) = delete;

  // The host has these facts from now on.
  void change(const std::string& facts) const {
    const std::string fresh = file() + ".new";
    std::ofstream(fresh) << facts;
    std::filesystem::rename(fresh, file());
  }
  static std::string library() { return NVML_STAND_IN_LIBRARY; }

 private:
  std::string file() const { return (directory_.path() / "gpus").string(); }

  Directory directory_;
};

}  // namespace lp::test
