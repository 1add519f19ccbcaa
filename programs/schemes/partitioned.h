#pragma once
// Partitioned push-pull, as in BytePS (Jiang et al., OSDI 2020; Peng et al., SOSP 2019): servers only sum. The workers
// have the parameters. They push their gradients, pull the sums, and all do the same update. Gradients are split into
// partitions, which go to the servers in turn. At most `credit` bytes are in flight. Among the waiting partitions, the
// one that the next step needs first is sent first.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "programs/training/training.h"

namespace lp {

struct Partitioning {
  std::uint64_t bytes = std::uint64_t{4} << 20;    // bytes of a partition
  std::uint64_t credit = std::uint64_t{16} << 20;  // bytes in flight; one partition may always be sent
};

// Error::failed when a partition would not hold a parameter.
Scheme partitioned_scheme(const ServerTraining& training, const Partitioning& partitioning = {});

inline TrainingGraph add_partitioned_training(Program& program, const LearningTask& task,
                                              const ServerTraining& training, const Partitioning& partitioning = {}) {
  return add_server_training(program, task, training, partitioned_scheme(training, partitioning));
}

// Chooses the waiting partition to send next. Owned by a worker.
class CreditScheduler {
 public:
  explicit CreditScheduler(std::uint64_t credit) : credit_(credit) {}

  // Adds a waiting partition. A lower rank is sent first; of equal ranks, the one that was added first.
  void add(std::uint32_t partition, std::uint64_t rank, std::uint64_t bytes);
  // The partition to send now, if any waits and there is credit for it.
  std::optional<std::uint32_t> next();
  // The partition's reply has arrived.
  void done(std::uint32_t partition);

  bool idle() const { return waiting_.empty() && sent_.empty(); }
  std::uint64_t in_flight() const { return in_flight_; }

 private:
  struct Waiting {
    std::uint32_t partition;
    std::uint64_t bytes;
  };

  const std::uint64_t credit_;
  std::uint64_t in_flight_ = 0;
  std::uint64_t added_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Waiting> waiting_{};  // by rank and order
  std::map<std::uint32_t, std::uint64_t> sent_{};                         // partition: bytes
};

}  // namespace lp
