#pragma once
// The GPUs of the ranks of a session, which make sums among them by NCCL. NCCL waits for a dead rank for ever. So a
// thread of the group looks after the members while NCCL works, and aborts it when one is gone.
//
// Owned by a Collective; one thread at a time.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>

#include "lp/base/error.h"
#include "lp/base/function.h"
#include "lp/base/scheduler.h"
#include "lp/cuda/stream.h"
#include "lp/gpu/nccl.h"

namespace lp {

class GpuGroup {
 public:
  // `check` throws an Error when a member is gone. Any thread may call it.
  explicit GpuGroup(std::function<void()> check);
  // Waits a moment for the other ranks, so that they can end what they still do with this rank's memory.
  ~GpuGroup();
  GpuGroup(const GpuGroup&) = delete;
  GpuGroup& operator=(const GpuGroup&) = delete;

  // These return when the GPUs have done it. They throw the error of `check`, or that of NCCL or the GPU, with which
  // the group has come to its end on this rank.

  // Forms the communicator, on the GPU of the stream. Until then `meanwhile` is called now and then; its error ends the
  // group, too.
  void form(const gpu::Nccl& nccl, const gpu::Nccl::Id& id, std::uint32_t rank, std::uint32_t ranks,
            cuda::Stream& stream, const std::function<void()>& meanwhile);
  // A sum over all ranks, from and to memory of the GPU.
  struct Sum {
    const float* from = nullptr;
    float* to = nullptr;
    std::size_t size = 0;
  };
  void sum(std::span<const Sum> sums, cuda::Stream& stream);

 private:
  enum class State : std::uint8_t { idle, working, ended };

  template <class Work>
  void watched(Work work);
  void watch() noexcept;
  void set(State state);
  void settle(const std::function<void()>& meanwhile = {});
  Error cause_of(const Error& error) const;

  const std::function<void()> check_;
  std::optional<gpu::NcclRank> rank_{};
  std::mutex mutex_;
  State state_ = State::idle;
  std::optional<Error> failure_{};  // why the thread has aborted the sum
  Event news_{};                    // wakes the thread
  Thread thread_{};                 // last: it uses all of the above
};

}  // namespace lp
