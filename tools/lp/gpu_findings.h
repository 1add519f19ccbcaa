#pragma once
// What lp doctor finds about the machine, and its findings about GPUs. A value, and a function without state.

#include <cstdint>
#include <string>
#include <vector>

namespace lp::tool {

struct Finding {
  enum class State : std::uint8_t { good, missing, bad };  // missing: programs can do without it
  std::string what{};
  State state = State::good;
  std::string found{};
  std::string fix{};
};

// The toolkit, the driver, the GPUs, what they can do with one another, and NCCL.
std::vector<Finding> gpu_findings();

}  // namespace lp::tool
