#include "lp/kernels/device_queue.h"

#include <gtest/gtest.h>

#include <string>

#include "lp/base/error.h"
#include "lp/gpu/toolkit.h"

namespace lp::kernels {
namespace {

// Where there is no GPU, one sentence has the reason. With one, tests of the label gpu use it.
TEST(DeviceQueue, WithoutADeviceOneSentenceHasTheReason) {
  const std::string obstacle = gpu::obstacle_here();
  if (obstacle.empty()) return;
  try {
    device_queue();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    EXPECT_EQ(error.text(), obstacle);
    EXPECT_EQ(error.text().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace lp::kernels
