#pragma once
// Sums tensors over all ranks while a worker computes the next ones: tensor fusion, as Horovod has it (Sergeev and Del
// Balso, "Horovod: fast and easy distributed deep learning in TensorFlow", 2018, arXiv:1802.05799, section 7).
//
//   lp::FusedAllreduce sums(all, layers);  // an lp::Collective that has joined
//   for (std::uint32_t layer = layers; layer-- > 0;) {
//     ...                                  // the gradient of the layer: backpropagation has that of the last one first
//     sums.start(layer, gradient[layer]);  // returns at once
//   }
//   sums.wait();
//
// Once a cycle the ranks agree, by a small allreduce, which tensors are on their way in all of them; these are summed
// together, in the order of their indices, fused up to CollectiveOptions::fusion_bytes. Who waits has no more to hand
// over, and does not let the cycle pass. What is summed together depends on timing; with Allreduce::direct and
// Allreduce::halving no bit does, since these add every value of a tensor in one order, wherever it lies in a buffer.
//
// Owned by a worker; one thread at a time. It uses the Collective from a thread of its own, so that the worker may use
// that only before it starts the first tensor and after wait() has returned.

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

  // For so many tensors, the same number in all ranks. `all` outlives this.
  FusedAllreduce(Collective& all, std::uint32_t tensors, Duration cycle = kCycle);
  // With tensors on their way it leaves the session: wait() fails in all others with Error::disconnected, which names
  // this rank, and all join() again. That takes seconds when the others have none on their way.
  ~FusedAllreduce();
  FusedAllreduce(const FusedAllreduce&) = delete;
  FusedAllreduce& operator=(const FusedAllreduce&) = delete;

  // Hands over tensor number `index`, from 0, and returns at once. It is summed in place, and nobody else may touch it
  // before wait() returns. Error::failed for a number that there is not, for a tensor that is on its way, and after a
  // wait() that the caller's deadline has ended.
  void start(std::uint32_t index, std::span<float> tensor);
  // Returns when no tensor is on its way. Error::disconnected, which names a rank that has failed; Error::failed when a
  // tensor has another size in another rank, and when all ranks wait for tensors that some have not handed over. After
  // these, start() and wait() fail with the same: join() again, and make another. Error::deadline: wait() again.
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
  Time due_ = kNever;                                         // the next cycle
  std::optional<Promise<void>> waiting_{};                    // for none to be on its way
  std::optional<Error> error_{};
  bool ended_ = false;
  Event news_{};   // for the thread
  Thread thread_;  // last: it uses all of the above
};

}  // namespace lp
