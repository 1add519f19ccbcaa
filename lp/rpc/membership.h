#pragma once
// The members of a group that are there, as far as this process knows. Owned by the Runtime; thread-safe.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "lp/rpc/core/future.h"

namespace lp::rpc {

// Throws Error(failed): clients[position] is out of range for `size` clients.
[[noreturn]] void no_client(std::size_t position, std::size_t size);

class Membership {
 public:
  struct News {
    std::size_t replica = 0;
    bool there = false;
  };
  // Equal epochs of one run mean the same replicas, in every process.
  struct Snapshot {
    std::uint64_t epoch = 0;
    std::vector<std::size_t> replicas{};  // the replicas that are there, in order
  };

  explicit Membership(std::size_t size) : there_(size, true) {}

  Snapshot now() const;
  // Returns a future that is ready when the epoch differs from this one. It fails with `stopped` when the run ends
  // before.
  Future<void> change(std::uint64_t epoch);

  // Applies the changes of the group with this epoch.
  void update(std::uint64_t epoch, std::span<const News> news);
  // The run ends: nothing will change any more.
  void close();

 private:
  mutable std::mutex mutex_;
  std::uint64_t epoch_ = 0;
  std::vector<bool> there_;  // by replica
  bool closed_ = false;
  std::vector<Promise<void>> waiting_;
};

}  // namespace lp::rpc
