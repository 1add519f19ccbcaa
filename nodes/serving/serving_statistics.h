#pragma once
// What an inference server counts. ServingStatistics is a value; a ServingCounter belongs to a server, whose lock
// guards it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/rpc/core/counters.h"

namespace lp {

struct ServingStatistics {
  std::uint64_t asked = 0;     // requests that came
  std::uint64_t answered = 0;  // with a value
  std::uint64_t shed = 0;      // with `overloaded`: there was no room, or too little time
  std::uint64_t failed = 0;    // the model could not answer, or the version did not come
  std::uint64_t batches = 0;
  std::vector<std::uint64_t> batch_sizes{};  // the batches that had 0, 1, 2, ... requests
  LatencyHistogram latency{};                // from a request's arrival to its answer
  std::uint64_t version = 0;                 // the model's
  std::uint64_t versions = 0;                // models that were taken over
  std::uint64_t refused_versions = 0;        // models that could not be made
  std::string problem{};                     // why the last of these could not; empty: a later one could

  double mean_batch() const;
};

class ServingCounter {
 public:
  explicit ServingCounter(std::size_t most) { all_.batch_sizes.resize(most + 1); }

  ServingStatistics& all() { return all_; }
  const ServingStatistics& all() const { return all_; }
  void batch(std::size_t size);
  void answered(Duration time);

 private:
  ServingStatistics all_{};
};

}  // namespace lp
