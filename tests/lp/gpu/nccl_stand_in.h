#pragma once
// Functions of a test that the stand-in for NCCL (nccl_stand_in.cc) calls, in any thread. Its function nccl_stand_in()
// takes them.

#include <functional>
#include <string>

namespace lp::test {

struct NcclStandIn {
  // The result of a function of NCCL that a rank calls, which the test may delay or make an error; 0 for success. The
  // rank is -1 where there is none.
  std::function<int(const std::string& function, int rank)> on_call{};
  // Puts work into a stream.
  std::function<void(void* stream, std::function<void()> work)> put{};
};

}  // namespace lp::test
