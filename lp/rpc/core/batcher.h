#pragma once
// Gathers the calls of a batched method: the handler runs once for `batch` of them, or for those that came within
// `batch_wait` of the first. No thread is held while they wait. Owned by a ServiceInstance; thread-safe.

#include <mutex>
#include <vector>

#include "lp/rpc/core/call.h"

namespace lp::rpc {

class Batcher {
 public:
  Batcher(ServiceInstance& node, const Method& method) : node_(node), method_(method) {}

  void add(ServerCall* call);
  // Refuses the calls that wait; the turn refuses later calls.
  void close(const Error& error);

 private:
  void flush(std::uint64_t round);
  void post(std::vector<ServerCall*> calls);

  ServiceInstance& node_;
  const Method& method_;
  std::mutex mutex_;
  std::vector<ServerCall*> waiting_;
  std::uint64_t round_ = 0;  // number of the batch that is gathered: the timer of an earlier batch does nothing
  Timers::Id timer_ = 0;
};

}  // namespace lp::rpc
