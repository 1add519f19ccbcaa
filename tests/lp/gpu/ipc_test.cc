// Whether GPUs give handles of their memory, through a stand-in for the driver.

#include "lp/gpu/ipc.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "lp/gpu/shared_library.h"

namespace lp::gpu {
namespace {

class IpcTest : public testing::Test {
 protected:
  ~IpcTest() override {
    unsetenv("CUDA_STAND_IN");
    int (*held)() = nullptr;
    library_.get("cuda_stand_in_held", held);
    EXPECT_EQ(held(), 0);
  }
  static std::string obstacle(const char* facts) {
    facts == nullptr ? unsetenv("CUDA_STAND_IN") : setenv("CUDA_STAND_IN", facts, 1);
    return ipc_obstacle(CUDA_STAND_IN_LIBRARY);
  }

 private:
  const SharedLibrary library_{CUDA_STAND_IN_LIBRARY};
};

TEST_F(IpcTest, EveryGpuMustGiveAHandle) {
  EXPECT_EQ(obstacle("1 0"), "");
  EXPECT_EQ(obstacle("3 0"), "");
  EXPECT_EQ(obstacle("3 801"), "GPU 2: CUDA error 801");  // "not supported", as in some containers
}

TEST_F(IpcTest, WithoutADriverOrAGpuTheReasonIsGiven) {
  EXPECT_EQ(obstacle(nullptr), "CUDA error 100");
  EXPECT_EQ(obstacle("0 0"), "there is no GPU");
  EXPECT_NE(ipc_obstacle("libcuda-nothing.so").find("libcuda-nothing.so"), std::string::npos);
}

}  // namespace
}  // namespace lp::gpu
