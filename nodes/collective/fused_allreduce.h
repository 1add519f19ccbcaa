#pragma once
// Sums tensors over all ranks while a worker computes the next ones: tensor fusion, as in Horovod (Sergeev and Del
// Balso, "Horovod: fast and easy distributed deep learning in TensorFlow", 2018, arXiv:1802.05799, section 7).
//
//   lp::FusedAllreduce sums(all, layers);  // an lp::Collective that has joined
//   for (std::uint32_t layer = layers; layer-- > 0;) {
//     backpropagate(layer);                // makes the gradient of the layer; the last layer comes first
//     sums.start(layer, gradient[layer]);  // returns at once
//   }
//   sums.wait();
//
// Once a cycle the ranks agree, by a small allreduce, which tensors all of them have started. These tensors are summed
// together, in the order of their indices, fused up to CollectiveOptions::fusion_bytes. A rank in wait() has no more
// tensors to start, and does not wait for the end of the cycle. Timing decides which tensors are summed together. With
// Allreduce::direct and Allreduce::halving it changes no bit, because they add every value of a tensor in one order,
// wherever it lies in a buffer.
//
// Owned by a worker; one thread at a time. It uses the Collective from a thread of its own. So the worker may use the
// Collective only before it starts the first tensor and after wait() has returned.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/rpc/core/future.h"
#include "nodes/collective/collective.h"

namespace lp {

class FusedAllreduce {
 public:
  static constexpr Duration kCycle = std::chrono::milliseconds(1);

  // `tensors` is the number of tensors, the same in all ranks. `all` outlives this.
  FusedAllreduce(Collective& all, std::uint32_t tensors, Duration cycle = kCycle);
  // With tensors started and not summed it leaves the session: wait() fails in all others with Error::disconnected,
  // which names this rank, and all join() again. The others may notice it only after seconds if they have started no
  // tensors.
  ~FusedAllreduce();
  FusedAllreduce(const FusedAllreduce&) = delete;
  FusedAllreduce& operator=(const FusedAllreduce&) = delete;

  // Starts the sum of tensor number `index`, from 0, and returns at once. The tensor is summed in place, and nobody
  // else may touch it before wait() returns. Error::failed for an unknown number, for a tensor that is started already,
  // and after a wait() that the caller's deadline has ended.
  void start(std::uint32_t index, std::span<float> tensor);
  // Returns when all started tensors are summed. Error::disconnected, which names the failed rank. Error::failed when a
  // tensor has another size in another rank, or when all ranks wait for tensors that some have not started. After these
  // errors, start() and wait() fail with the same error: join() again, and create another FusedAllreduce. After
  // Error::deadline, call wait() again.
  void wait();

 private:
  void run() noexcept;
  bool await_cycle();
  void cycle();

  Collective& all_;
  const std::uint32_t tensors_;
  const Duration cycle_;
  std::mutex mutex_;
  std::map<std::uint32_t, std::span<float>> on_their_way_{};  // by index
  Time due_ = kNever;                                         // the time of the next cycle
  std::optional<Promise<void>> waiting_{};                    // set when no tensor is left to sum
  std::optional<Error> error_{};
  bool ended_ = false;
  Event news_{};   // wakes the thread
  Thread thread_;  // last: it uses all of the above
};

}  // namespace lp
