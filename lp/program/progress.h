#pragma once
// The progress of a node, as it reports it. A value.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lp {

// Progress that a node reports for people: it is shown as a bar and kept in the status.
struct Progress {
  std::uint64_t step = 0;
  std::uint64_t total = 0;                               // 0: unknown
  std::vector<std::pair<std::string, double>> values{};  // "loss", "images/s"
};

}  // namespace lp
