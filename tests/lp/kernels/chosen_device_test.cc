#include "lp/kernels/chosen_device.h"

#include <gtest/gtest.h>

#include <string>

#include "lp/base/error.h"
#include "lp/gpu/toolkit.h"

namespace lp::kernels {
namespace {

std::string refusal(std::string_view wanted) {
  try {
    return "chosen: " + chosen_device(wanted);
  } catch (const Error& error) {
    return error.text();
  }
}

TEST(ChosenDevice, IsTheOneThatIsAskedFor) {
  EXPECT_EQ(chosen_device("cpu"), "cpu");
  EXPECT_EQ(refusal("tpu"), "--device=tpu: give cpu, cuda or auto");
  EXPECT_EQ(refusal(""), "--device=: give cpu, cuda or auto");
  if (gpu::toolkit() != 0) {
    EXPECT_EQ(chosen_device("cuda"), "cuda");
  } else {
    EXPECT_EQ(refusal("cuda"), "--device=cuda: " + gpu::obstacle_here());
  }
}

TEST(ChosenDevice, AutoIsAGpuWhereOneCanBeUsed) {
  EXPECT_EQ(chosen_device("auto"), gpu::obstacle_here().empty() ? "cuda" : "cpu");
}

TEST(ChosenDevice, OnlyCudaMakesAQueueAndFailsInOneSentenceWithoutAGpu) {
  EXPECT_FALSE(queue_on("cpu"));
  const MakeQueue make = queue_on("cuda");
  ASSERT_TRUE(make);
  if (gpu::obstacle_here().empty()) return;  // a test of the label gpu makes one
  try {
    make();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(), gpu::obstacle_here());
  }
}

}  // namespace
}  // namespace lp::kernels
