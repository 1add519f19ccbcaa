// The main() of this folder's tests, and of the processes that they launch.

#include <gtest/gtest.h>

#include "tests/programs/mapreduce/jobs_for_test.h"

int main(int argc, char** argv) {
  if (const auto code = lp::become_node_if_asked(argc, argv, lp::test::programs())) return *code;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
